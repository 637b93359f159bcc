// One engine beside the page, so that the page stays quick while it plays.

let ask = null;

onmessage = async ({ data }) => {
  if (data.module) {
    ask = engineOf((await WebAssembly.instantiate(data.module, {})).exports);
    return;
  }
  try {
    postMessage({ number: data.number, answer: ask(data.question) });
  } catch (trouble) {
    postMessage({ number: data.number, trouble: trouble.message });
  }
};
