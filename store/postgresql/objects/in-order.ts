/** What each item comes to, in the order of the items; so many are fetched ahead of the one that is given out. */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  fetch: (item: Item) => Promise<Result>,
  ahead: number,
): AsyncGenerator<Result> {
  const inFlight: Promise<Result>[] = []
  let next = 0
  const begin = (): void => {
    const one = fetch(items[next++] as Item)
    one.catch(() => undefined) // told to who asks for it, if anyone still does
    inFlight.push(one)
  }
  while (next < Math.min(ahead, items.length)) begin()
  for (let one = inFlight.shift(); one; one = inFlight.shift()) {
    const result = await one
    if (next < items.length) begin()
    yield result
  }
}
