// Asks the WebAssembly module: text in, text out.

function engineOf(exports) {
  const bytes = (at, length) => new Uint8Array(exports.memory.buffer, at, length);
  const read = (length) => new TextDecoder().decode(bytes(exports.ramp_text(), length));
  return (question) => {
    const text = new TextEncoder().encode(question);
    bytes(exports.ramp_room(text.length), text.length).set(text);
    try {
      return read(exports.ramp_answer());
    } catch (trap) {
      throw new Error(read(exports.ramp_length()) || String(trap));
    }
  };
}
