/** Types of catalogs and of their compiled messages. */

/** A catalog: messages by name, in groups. */
export interface MessageTree {
  readonly [name: string]: string | MessageTree
}

/** Type of the messages of a catalog: a function for a message with named parameters, otherwise the text. */
export type Messages<Tree, Of> = {
  readonly [Name in keyof Tree]: Tree[Name] extends string
    ? Name extends keyof Of
      ? (parameters: Of[Name]) => string
      : string
    : Messages<Tree[Name], Name extends keyof Of ? Of[Name] : unknown>
}
