//! Arrow tables, handed over by Arrow's `PyCapsule` protocol.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// An Arrow table. pyarrow, pandas, polars and all else that speaks Arrow's `PyCapsule` protocol take it without copying.
#[pyclass(frozen, module = "rampcc")]
#[derive(Clone)]
pub(crate) struct Table(RecordBatch);

#[pymethods]
impl Table {
    /// The table as a stream of one batch. It has the one schema that it has, as the protocol allows, whatever is requested.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names and types of its columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(|error| wrong(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// Number of columns.
    #[getter]
    fn num_columns(&self) -> usize {
        self.0.num_columns()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let columns: Vec<String> = (self.0.schema().fields().iter())
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect();
        format!("<rampcc.Table of {} rows: {}>", self.0.num_rows(), columns.join(", "))
    }
}

fn wrong(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A table in the making.
#[derive(Default)]
pub(crate) struct Columns(Vec<(Field, ArrayRef)>);

impl Columns {
    /// With one more column: a value or nothing for each row.
    pub(crate) fn with<A, T>(mut self, name: &str, values: impl IntoIterator<Item = Option<T>>) -> Self
    where
        A: Array + FromIterator<Option<T>> + 'static,
    {
        let array: A = values.into_iter().collect();
        self.0.push((Field::new(name, array.data_type().clone(), true), Arc::new(array)));
        self
    }

    /// The same where every row has a value.
    pub(crate) fn all<A, T>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self
    where
        A: Array + FromIterator<Option<T>> + 'static,
    {
        let mut columns = self.with::<A, T>(name, values.into_iter().map(Some));
        if let Some((field, _)) = columns.0.last_mut() {
            field.set_nullable(false);
        }
        columns
    }

    /// All of them, each as long as the others.
    pub(crate) fn table(self) -> PyResult<Table> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = self.0.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        Ok(Table(batch.map_err(|error| wrong(&error))?))
    }
}
