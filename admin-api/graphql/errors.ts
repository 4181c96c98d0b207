/** GraphQL errors with the rules and codes of REST: `extensions` contains the error envelope of REST. */
import { GraphQLError } from 'graphql'
import { Refusal } from '#core/refusals.ts'
import { extensionsOf } from './graphql-options.ts'

/** Maximum length of messages that quote the document. */
const maxMessageLength = 500

/** Converts an error to a refusal. An invalid document is a refusal too; `defect` converts unexpected errors. */
export function refusalOf(error: unknown, defect: (error: unknown) => Refusal): Refusal {
  if (error instanceof Refusal) return error
  if (!(error instanceof GraphQLError)) return defect(error)
  const { originalError } = error
  if (originalError === undefined || originalError instanceof GraphQLError)
    return new Refusal('validation_failed', shortened(error.message))
  return refusalOf(originalError, defect)
}

/** Creates the error for the response, without a stack and without internal messages. */
export function toGraphqlError(error: unknown, refusal: Refusal, requestId: string): GraphQLError {
  const { nodes, source, positions, path } = error instanceof GraphQLError ? error : {}
  return new GraphQLError(refusal.message, { nodes, source, positions, path, extensions: extensionsOf(refusal, requestId) })
}

const shortened = (text: string): string => (text.length > maxMessageLength ? `${text.slice(0, maxMessageLength).toWellFormed()} …` : text)
