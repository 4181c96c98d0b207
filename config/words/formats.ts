/** Numbers and times as text. For the first format of a language Node loads the data of all: 20 ms and 8 MiB that no start needs. */

/** A whole number that is not negative, with commas: `50,000`. Loads nothing. */
export const withCommas = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** What is made when it is first asked for, and kept. */
export function atFirstUse<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}
