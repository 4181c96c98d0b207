/** Fetches a result for each item, in order. Fetches up to `ahead` items before the consumer needs them. */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  fetch: (item: Item) => Promise<Result>,
  ahead: number,
): AsyncGenerator<Result> {
  const inFlight: Promise<Result>[] = []
  let next = 0
  const begin = (): void => {
    const one = fetch(items[next++] as Item)
    one.catch(() => undefined) // the consumer that awaits it gets the error
    inFlight.push(one)
  }
  while (next < Math.min(ahead, items.length)) begin()
  for (let one = inFlight.shift(); one; one = inFlight.shift()) {
    const result = await one
    if (next < items.length) begin()
    yield result
  }
}
