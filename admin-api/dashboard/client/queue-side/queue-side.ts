/** API calls and URLs of a queue screen: for the current organization, or for any organization as the operator. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { call } from '../app/api.ts'
import type { Answer, Input, Route } from '../wire/route.ts'
import type { ActBody, HoldBody, ListQuery } from '../queue/filter.ts'

/** A route and its input. */
type Asked<R extends Route> = readonly [route: R, input: Input<R>]

/** Pairs a route with its input, and checks their types. */
export const asked = <R extends Route>(route: R, input: Input<R>): Asked<R> => [route, input]

export const answer = <R extends Route>([route, input]: Asked<R>): Promise<Answer<R>> => call(route, input)

type Queue = '/v1/queue' | '/operator/v1/organizations/{id}/queue'
type OneAct = '/v1/queue/acts/{id}' | '/operator/v1/organizations/{id}/queue/acts/{act_id}'
type OneHold = '/v1/queue/holds/{id}' | '/operator/v1/organizations/{id}/queue/holds/{hold_id}'

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
  readonly messages: (query: ListQuery) => Asked<Queue>
  readonly counts: (query: ListQuery) => Asked<`${Queue}/counts`>
  /** Runs an action, or a dry run of it. */
  readonly act: (body: ActBody) => Asked<`POST ${Queue}/acts`>
  readonly acts: (query: { readonly project?: string }) => Asked<`${Queue}/acts`>
  readonly oneAct: (id: string) => Asked<OneAct>
  readonly stop: (id: string) => Asked<`POST ${OneAct}/stop`>
  readonly holds: (query: { readonly project?: string }) => Asked<`${Queue}/holds`>
  readonly hold: (body: HoldBody) => Asked<`POST ${Queue}/holds`>
  readonly lift: (id: string) => Asked<`POST ${OneHold}/release`>
}

export const Side = createContext<QueueSide | undefined>(undefined)

export function useSide(): QueueSide {
  const side = useContext(Side)
  if (!side) throw new Error('useSide() requires a Side provider')
  return side
}
