/** Bodies that take long: empty lines until the result is there, as connections without a word are closed. */
const beatMs = 10_000

/** The result as a line of JSON. */
export async function* beatUntil(working: Promise<unknown>): AsyncGenerator<string> {
  for (;;) {
    const beat = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => beat.resolve(undefined), beatMs)
    const result = await Promise.race([working.then((done) => ({ done })), beat.promise]).finally(() => clearTimeout(timer))
    yield result ? `${JSON.stringify(result.done)}\n` : '\n'
    if (result) return
  }
}
