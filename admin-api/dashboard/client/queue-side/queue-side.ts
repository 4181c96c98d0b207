/** API calls and URLs of a queue screen: for the current organization, or for any organization as the operator. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { call } from '../app/api.ts'
import type { Operation, RequestParts } from '../wire/operation.ts'
import type { QueueAct, QueueCounts, QueuedMessage, QueueHold } from '../wire/operations.ts'
import type { ActBody, HoldBody, ListQuery } from '../queue/filter.ts'

/** An operation and its input. */
export type Asked<O> = readonly [operation: Operation<RequestParts, O>, input: RequestParts]

/** Pairs an operation with its input, and checks their types. */
export const asked = <I extends RequestParts, O>(operation: Operation<I, O>, input: I): Asked<O> => [operation, input]

export const answer = <O>([operation, input]: Asked<O>): Promise<O> => call(operation, input)

export interface Page<T> {
  readonly data: T[]
  readonly next_cursor: string | null
}

export interface QueueSide {
  /** Id of the organization. Set only on screens of the operator. */
  readonly organization: string | undefined
  /** Name of the organization, or its id while the name is unknown. */
  readonly organizationName?: string
  readonly mayChange: () => boolean
  readonly queueLink: (query?: Readonly<Record<string, string>>) => string
  /** Returns the URL of the list of actions, or of an action. */
  readonly actsLink: (id?: string) => string
  /** Returns the URL of the audit log entries about an action. */
  readonly auditLink: (actId: string) => string
  readonly messages: (query: ListQuery) => Asked<Page<QueuedMessage>>
  readonly counts: (query: ListQuery) => Asked<QueueCounts>
  /** Runs an action, or a dry run of it. */
  readonly act: (body: ActBody) => Asked<QueueAct>
  readonly acts: (query: { readonly project?: string }) => Asked<Page<QueueAct>>
  readonly oneAct: (id: string) => Asked<QueueAct>
  readonly stop: (id: string) => Asked<QueueAct>
  readonly holds: (query: { readonly project?: string }) => Asked<Page<QueueHold>>
  readonly hold: (body: HoldBody) => Asked<QueueHold>
  readonly lift: (id: string) => Asked<QueueAct>
}

export const Side = createContext<QueueSide | undefined>(undefined)

export function useSide(): QueueSide {
  const side = useContext(Side)
  if (!side) throw new Error('useSide() requires a Side provider')
  return side
}
