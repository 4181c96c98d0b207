/** A service with one of everything, and a request for every operation of its table, in the order in which the owner can make all of them. */
import type { ExecutionContext } from 'ava'
import type { Operation } from '../../../admin-api/operation.ts'
import type { RestAnswer, RestClient } from '../../support/rest.ts'
import { startOAuth, type OAuthRig } from '../oauth/rig.ts'
import { makeOneOfEach, requestsOf, type Made, type Request } from './requests.ts'

export interface Site extends OAuthRig {
  readonly made: Made
  readonly requests: Readonly<Record<string, Request>>
  /** In the order in which the owner can make all of the requests. */
  readonly walk: readonly Operation[]
}

export async function siteOf(t: ExecutionContext): Promise<Site> {
  const rig = await startOAuth(t)
  const made = await makeOneOfEach(rig)
  const requests = requestsOf(made)
  const names = Object.keys(requests)
  const known = rig.operations.filter(({ operationId }) => operationId in requests)
  const walk = known.toSorted((a, b) => names.indexOf(a.operationId) - names.indexOf(b.operationId))
  return { ...rig, made, requests, walk }
}

export function ask(client: RestClient, { method, path }: Operation, { params = {}, query, body, headers }: Request): Promise<RestAnswer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'missing')
  return client.call(method, query === undefined ? filled : `${filled}?${query}`, body, headers)
}

export const requestOf = ({ requests }: Site, { operationId }: Operation): Request => requests[operationId] ?? { stranger: 'refused' }
