//! A plot as SVG, in three sizes: for a screen, for a phone, and as a thumbnail.

use super::axis::{Scale, name};
use super::{Dot, Panel, Series, Shape};
use crate::report::html::summary::dash_of;
use crate::report::html::text::{Html, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Wide,
    Narrow,
    Thumbnail,
}

struct Frame {
    width: f64,
    height: f64,
    left: f64,
    bottom: f64,
    top: f64,
    right: f64,
}

/// Where values are drawn.
struct Area {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    size: Size,
}

impl Size {
    fn frame(self) -> Frame {
        match self {
            Self::Wide => {
                Frame { width: 760.0, height: 380.0, left: 62.0, bottom: 50.0, top: 12.0, right: 18.0 }
            }
            Self::Narrow => {
                Frame { width: 350.0, height: 290.0, left: 50.0, bottom: 48.0, top: 10.0, right: 12.0 }
            }
            Self::Thumbnail => {
                Frame { width: 240.0, height: 130.0, left: 4.0, bottom: 4.0, top: 4.0, right: 4.0 }
            }
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Wide => "plot-wide",
            Self::Narrow => "plot-narrow",
            Self::Thumbnail => "thumbnail",
        }
    }
}

/// The plot; its description is for those who cannot see it.
pub(super) fn chart(html: &mut Html, panel: &Panel, size: Size) {
    let Frame { width, height, left, bottom, top, right } = size.frame();
    let (x_end, y_end) = (width - right, height - bottom);
    let x = x_scale(panel, [left, x_end]);
    let count = if size == Size::Wide { 6 } else { 4 };
    let ends = |dot: &Dot| {
        let (low, high) = dot.interval.unwrap_or((dot.y, dot.y));
        [low, dot.y, high]
    };
    let values = panel.series.iter().flat_map(|series| &series.points).flat_map(ends);
    let values = values.chain(panel.lines.iter().filter_map(|(_, _, y)| *y));
    let y = Scale::new(values, panel.y.log, true, [y_end, top]).rounded(count);
    let area = Area { x, y, left, right: x_end, top, bottom: y_end, size };
    html.add(format_args!(
        "<svg class=\"{}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n",
        size.class(),
        Text(&describe(panel))
    ));
    if size == Size::Thumbnail {
        html.add(format_args!(
            "<line class=\"axis\" x1=\"{left}\" x2=\"{x_end}\" y1=\"{y_end}\" y2=\"{y_end}\"/>\n"
        ));
    } else {
        axes(html, panel, &area);
    }
    for (index, series) in panel.series.iter().enumerate() {
        if panel.shape == Shape::Bars {
            bars(html, panel, index, &area);
        } else {
            line(html, panel, series, &area);
        }
    }
    if size != Size::Thumbnail {
        compared(html, panel, &area);
    }
    html.raw("</svg>\n");
}

/// Lines that the values are compared with.
fn compared(html: &mut Html, panel: &Panel, area: &Area) {
    let Area { x, y, .. } = area;
    for (label, upright, lying) in &panel.lines {
        let (x1, x2, y1, y2) = match (upright, lying) {
            (Some(at), _) => (x.place(*at), x.place(*at), area.top, area.bottom),
            (_, Some(at)) => (area.left, area.right, y.place(*at), y.place(*at)),
            _ => continue,
        };
        html.add(format_args!(
            "<line class=\"compared\" x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\"/>\
             <text class=\"muted\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            x2 - 4.0,
            y1.min(y2) + if upright.is_some() { 12.0 } else { -4.0 },
            Text(label)
        ));
    }
}

fn x_scale(panel: &Panel, range: [f64; 2]) -> Scale {
    let values = panel.series.iter().flat_map(|series| &series.points).map(|dot| dot.x);
    if let Some((from, to)) = panel.range {
        return Scale::new([from, to].into_iter(), panel.x.log, false, range);
    }
    let values = values.chain(panel.lines.iter().filter_map(|(_, x, _)| *x));
    if panel.categories.is_empty() {
        let zero = matches!(panel.shape, Shape::Curves | Shape::Steps) && !panel.x.log;
        return Scale::new(values, panel.x.log, zero, range);
    }
    let last = panel.categories.len() as f64 - 0.5;
    Scale::new([-0.5, last].into_iter(), false, false, range)
}

fn axes(html: &mut Html, panel: &Panel, area: &Area) {
    let &Area { ref x, ref y, left, right: x_end, top, bottom: y_end, size } = area;
    let count = if size == Size::Wide { 6 } else { 4 };
    for tick in y.ticks(count) {
        let at = y.place(tick);
        html.add(format_args!(
            "<line class=\"grid\" x1=\"{left}\" x2=\"{x_end}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            left - 6.0,
            at + 4.0,
            name(tick)
        ));
    }
    let named: Vec<(f64, String)> = if panel.categories.is_empty() {
        x.ticks(if size == Size::Wide { 8 } else { 4 }).into_iter().map(|tick| (tick, name(tick))).collect()
    } else {
        let every = panel.categories.len().div_ceil(if size == Size::Wide { 14 } else { 6 });
        let all = panel.categories.iter().enumerate();
        all.filter(|(i, _)| i % every == 0).map(|(i, label)| (i as f64, label.clone())).collect()
    };
    for (tick, label) in named {
        let at = x.place(tick);
        html.add(format_args!(
            "<line class=\"axis\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{y_end}\" y2=\"{:.1}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y_end + 4.0,
            y_end + 18.0,
            Text(&label)
        ));
    }
    html.add(format_args!(
        "<line class=\"axis\" x1=\"{left}\" x2=\"{x_end}\" y1=\"{y_end}\" y2=\"{y_end}\"/>\n\
         <text class=\"muted\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
         <text class=\"muted\" transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        f64::midpoint(left, x_end),
        y_end + 38.0,
        Text(&panel.x.label),
        f64::midpoint(top, y_end),
        Text(&panel.y.label)
    ));
}

/// What a point is, when it is pointed at.
fn title(html: &mut Html, panel: &Panel, series: &Series, dot: &Dot) {
    let at = if panel.categories.is_empty() {
        name(dot.x)
    } else {
        panel.categories.get(dot.x as usize).cloned().unwrap_or_default()
    };
    let at = if at.is_empty() { at } else { format!(" at {at}") };
    let ends = match dot.interval.map(|(low, high)| (short(low), short(high))) {
        Some((low, high)) if low != high => format!(" ({low} to {high})"),
        _ => String::new(),
    };
    html.add(format_args!("<title>{}{}: {}{ends}</title>", Text(&series.label), Text(&at), short(dot.y)));
}

/// Three significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = libm::floor(libm::log10(value.abs())) as i32;
    format!("{value:.*}", usize::try_from(2 - magnitude).unwrap_or(0))
}

fn line(html: &mut Html, panel: &Panel, series: &Series, area: &Area) {
    let Area { x, y, size, .. } = area;
    let shape = panel.shape;
    let colour = format!("var(--arm-{})", series.style % 8);
    let thin = *size == Size::Thumbnail;
    if shape != Shape::Dots {
        let mut path = String::new();
        let mut last: Option<f64> = None;
        for dot in series.points.iter().filter(|dot| dot.y.is_finite() && dot.x.is_finite()) {
            let (px, py) = (x.place(dot.x), y.place(dot.y));
            match last {
                Some(_) if shape == Shape::Steps => path += &format!("H{px:.1}V{py:.1}"),
                Some(_) => path += &format!("L{px:.1} {py:.1}"),
                None => path += &format!("M{px:.1} {py:.1}"),
            }
            last = Some(py);
        }
        let (stroke, dash) = if thin { (1.5, "") } else { (2.0, dash_of(series.style)) };
        html.add(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{stroke}\" stroke-dasharray=\"{dash}\" \
             stroke-linejoin=\"round\"/>\n"
        ));
    }
    if thin && shape != Shape::Dots || matches!(shape, Shape::Curves | Shape::Steps) {
        return;
    }
    for dot in series.points.iter().filter(|dot| dot.y.is_finite()) {
        let (px, py) = (x.place(dot.x), y.place(dot.y));
        if let Some((low, high)) = dot.interval.filter(|(low, high)| low < high && !thin) {
            html.add(format_args!(
                "<line stroke=\"{colour}\" x1=\"{px:.1}\" x2=\"{px:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                y.place(low),
                y.place(high)
            ));
        }
        html.add(format_args!(
            "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{}\" fill=\"{colour}\">",
            if thin { 1.5 } else { 3.0 }
        ));
        if !thin {
            title(html, panel, series, dot);
        }
        html.raw("</circle>");
    }
    html.raw("\n");
}

fn bars(html: &mut Html, panel: &Panel, index: usize, area: &Area) {
    let series = &panel.series[index];
    let Area { x, y, size, .. } = area;
    let count = panel.series.len().max(1) as f64;
    let width = (x.place(1.0) - x.place(0.0)) * 0.8 / count;
    for dot in series.points.iter().filter(|dot| dot.y.is_finite()) {
        let from = x.place(dot.x) + width * (index as f64 - count / 2.0);
        let top = y.place(dot.y);
        html.add(format_args!(
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"var(--arm-{})\">",
            from,
            (width * 0.92).max(0.5),
            (area.bottom - top).max(0.0),
            series.style % 8
        ));
        if *size != Size::Thumbnail {
            title(html, panel, series, dot);
        }
        html.raw("</rect>");
        // A number over each bar that is wide enough for it.
        if *size == Size::Wide && width >= 34.0 {
            let above = dot.interval.map_or(top, |(_, high)| y.place(high));
            html.add(format_args!(
                "<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                from + width * 0.46,
                (above - 4.0).max(10.0),
                short(dot.y)
            ));
        }
        if let Some((low, high)) = dot.interval.filter(|(low, high)| low < high) {
            html.add(format_args!(
                "<line class=\"axis\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\"/>",
                from + width * 0.46,
                y.place(low),
                y.place(high)
            ));
        }
    }
    html.raw("\n");
}

/// What a plot shows, in a sentence.
fn describe(panel: &Panel) -> String {
    let labels: Vec<&str> = panel.series.iter().map(|series| series.label.as_str()).collect();
    let title = if panel.title.is_empty() { String::new() } else { format!("{}: ", panel.title) };
    format!("{title}{} over {} of {}", panel.y.label, panel.x.label, labels.join(", "))
}
