/** Errors of GraphQL with the rules and codes of REST: the envelope of REST stands in `extensions`. */
import { GraphQLError } from 'graphql'
import { Refusal } from '#core/refusals.ts'
import { extensionsOf } from './graphql-options.ts'

/** Of messages that quote what was sent. */
const maxMessageLength = 500

/** The refusal that an error is. A document that does not fit the schema is one too; `defect` gives that of anything else. */
export function refusalOf(error: unknown, defect: (error: unknown) => Refusal): Refusal {
  if (error instanceof Refusal) return error
  if (!(error instanceof GraphQLError)) return defect(error)
  const { originalError } = error
  if (originalError === undefined || originalError instanceof GraphQLError)
    return new Refusal('validation_failed', shortened(error.message))
  return refusalOf(originalError, defect)
}

/** As it is answered: never with a stack, nor with words that are not meant for the caller. */
export function toGraphqlError(error: unknown, refusal: Refusal, requestId: string): GraphQLError {
  const { nodes, source, positions, path } = error instanceof GraphQLError ? error : {}
  return new GraphQLError(refusal.message, { nodes, source, positions, path, extensions: extensionsOf(refusal, requestId) })
}

const shortened = (text: string): string => (text.length > maxMessageLength ? `${text.slice(0, maxMessageLength).toWellFormed()} …` : text)
