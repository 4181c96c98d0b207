/** The entries that every language has, with the same parameters: those of English. */

/** Those of English, with any text in their place. */
export type Wider<T> = {
  readonly [K in keyof T]: T[K] extends string ? string : T[K] extends (...given: infer P) => string ? (...given: P) => string : Wider<T[K]>
}
