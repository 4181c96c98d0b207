/** Writes empty lines until a slow result is available, since idle connections are closed. */
const beatMs = 10_000

/** Yields the result as a line of JSON. */
export async function* beatUntil(working: Promise<unknown>): AsyncGenerator<string> {
  for (;;) {
    const beat = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => beat.resolve(undefined), beatMs)
    const result = await Promise.race([working.then((done) => ({ done })), beat.promise]).finally(() => clearTimeout(timer))
    yield result ? `${JSON.stringify(result.done)}\n` : '\n'
    if (result) return
  }
}
