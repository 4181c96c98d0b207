/** Types of the messages of server pages. */
import type { Html } from '../pages/layout/html.ts'

/** Marks the parameters of a message that is HTML; undefined without parameters. */
export interface Markup<Parameters> {
  readonly markup: Parameters
}

/**
 * Type of the messages of a catalog. A message with parameters is a function, and any other message is a text. A message with markup is
 * HTML.
 */
export type PageMessages<Tree, Of> = {
  readonly [Name in keyof Tree]: Tree[Name] extends string
    ? Name extends keyof Of
      ? PageMessage<Of[Name]>
      : string
    : PageMessages<Tree[Name], Name extends keyof Of ? Of[Name] : unknown>
}

type PageMessage<Of> =
  Of extends Markup<infer Parameters>
    ? Parameters extends undefined
      ? Html
      : (parameters: Parameters) => Html
    : (parameters: Of) => string
