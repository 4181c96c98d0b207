/** Handles one request: runs actions for its caller, and converts failures to errors for the caller. */
import DataLoader from 'dataloader'
import type { GraphQLError } from 'graphql'
import { invalid, Refusal } from '#core/refusals.ts'
import { refusalOfDefect } from '#core/writes/store-refusal.ts'
import { CursorInvalid } from '#store/cursor.ts'
import { invoke, invokeMany } from '../actions/invoke.ts'
import { workOf } from '../operation/operation.ts'
import { refusalOf, toGraphqlError } from './errors.ts'
import type { GraphqlCall, GraphqlOptions } from './graphql-options.ts'
import type { Bound, RelatedKind, RequestContext } from './root-fields.ts'

type Wire = Readonly<Record<string, unknown>>

export class GraphqlRequest implements RequestContext {
  readonly call: GraphqlCall
  readonly related: RequestContext['related']
  readonly #options: GraphqlOptions

  constructor(options: GraphqlOptions, call: GraphqlCall, reading: Readonly<Record<RelatedKind, Bound>>) {
    this.#options = options
    this.call = call
    this.related = { project: this.#loader(reading.project), destination: this.#loader(reading.destination) }
  }

  async run(action: Bound, input: Wire): Promise<unknown> {
    const startedAt = this.#options.monotonic()
    try {
      const result = await this.#invoke(action, input)
      this.#note(action.graphql.field, 'ok', startedAt)
      return result
    } catch (error) {
      const refusal = this.#refusalOf(error, action.graphql.field)
      this.#note(action.graphql.field, refusal.code, startedAt)
      throw refusal
    }
  }

  /** Returns the error of a document that is refused completely. */
  refusedDocument(error: unknown): GraphQLError {
    const refusal = this.#refusalOf(error, 'document')
    this.#note('document', refusal.code, this.#options.monotonic())
    return toGraphqlError(error, refusal, this.call.client.requestId)
  }

  /** Returns the error of one field; refusals of the core are already logged. */
  failedField(error: GraphQLError): GraphQLError {
    return toGraphqlError(error, this.#refusalOf(error, String(error.path?.[0] ?? 'document')), this.call.client.requestId)
  }

  async #invoke(action: Bound, input: Wire): Promise<unknown> {
    const { principal, client, signal, headers } = this.call
    const { core, requireFlag, requireConfirmed, admission } = this.#options
    if (action.graphql.root === 'mutation') {
      admission.check(workOf(action))
      await requireConfirmed(action.id, headers)
    }
    return invoke(action, { core, principal, client, signal }, input, requireFlag)
  }

  /** Loads the ids of one tick together, and each id once in a request. */
  #loader(action: Bound): DataLoader<string, Wire | null> {
    const { principal, client, signal } = this.call
    const context = { core: this.#options.core, principal, client, signal }
    return new DataLoader(async (ids) => (await invokeMany(action, context, ids, this.#options.requireFlag)) as readonly (Wire | null)[])
  }

  #refusalOf(error: unknown, operationId: string): Refusal {
    if (error instanceof CursorInvalid)
      return invalid([{ path: 'cursor', message: 'is not a cursor of this list; start again without a cursor' }])
    return refusalOf(error, (defect) => {
      if (this.call.signal.aborted) return interrupted()
      const { requestId } = this.call.client
      this.#options.events.failed(defect, { requestId, operationId })
      return refusalOfDefect(defect, requestId)
    })
  }

  #note(field: string, outcome: string, startedAt: number): void {
    const { events, monotonic } = this.#options
    const { organizationId, projectId, credentialId: grantId } = this.call.principal
    const facts = { field, outcome, organizationId, projectId, grantId, requestId: this.call.client.requestId }
    events.fieldAnswered({ ...facts, milliseconds: monotonic() - startedAt })
  }
}

export const interrupted = (): Refusal =>
  new Refusal('overloaded', 'The request was not finished in time; repeat it in a few seconds, or ask for less.', { retryAfterSeconds: 2 })
