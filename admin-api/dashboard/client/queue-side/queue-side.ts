/** Whose queue a screen shows: that of the chosen organization, or of any for the operator. Its calls, and where its pages are. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { call } from '../app/api.ts'
import type { Operation, RequestParts } from '../wire/operation.ts'
import type { QueueAct, QueueCounts, QueuedMessage, QueueHold } from '../wire/operations.ts'
import type { ActBody, HoldBody, ListQuery } from '../queue/filter.ts'

/** A call with what it is asked for. */
export type Asked<O> = readonly [operation: Operation<RequestParts, O>, input: RequestParts]

/** What is asked for is checked here, where both are named. */
export const asked = <I extends RequestParts, O>(operation: Operation<I, O>, input: I): Asked<O> => [operation, input]

export const answer = <O>([operation, input]: Asked<O>): Promise<O> => call(operation, input)

export interface Page<T> {
  readonly data: T[]
  readonly next_cursor: string | null
}

interface PageAsked {
  readonly limit: string
}

export interface QueueSide {
  /** The organization, for its operator alone. */
  readonly organization: string | undefined
  /** Its name, or its id until that is known. */
  readonly organizationName?: string
  readonly mayChange: () => boolean
  readonly queueLink: (query?: Readonly<Record<string, string>>) => string
  /** Of the list of acts, or of one of them. */
  readonly actsLink: (id?: string) => string
  /** Where the audit log says what was done with an act. */
  readonly auditLink: (actId: string) => string
  readonly messages: (query: ListQuery & PageAsked) => Asked<Page<QueuedMessage>>
  readonly counts: (query: ListQuery) => Asked<QueueCounts>
  /** A dry run too. */
  readonly act: (body: ActBody) => Asked<QueueAct>
  readonly acts: (query: PageAsked & { readonly project?: string }) => Asked<Page<QueueAct>>
  readonly oneAct: (id: string) => Asked<QueueAct>
  readonly stop: (id: string) => Asked<QueueAct>
  readonly holds: (query: PageAsked & { readonly project?: string }) => Asked<Page<QueueHold>>
  readonly hold: (body: HoldBody) => Asked<QueueHold>
  readonly lift: (id: string) => Asked<QueueAct>
}

export const Side = createContext<QueueSide | undefined>(undefined)

export function useSide(): QueueSide {
  const side = useContext(Side)
  if (!side) throw new Error('A queue is shown outside of Side')
  return side
}
