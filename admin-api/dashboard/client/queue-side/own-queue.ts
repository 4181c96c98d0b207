/** Queue operations on the current organization. */
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asked, type QueueSide } from './queue-side.ts'

export const ownQueue: QueueSide = {
  organization: undefined,
  mayChange: () => mayChange.value,
  queueLink: (query) => link('/queue', query),
  actsLink: (id) => link(id === undefined ? '/queue/history' : `/queue/history/${id}`),
  auditLink: (actId) => link('/settings/audit', { target: actId }),
  messages: (query) => asked('/v1/queue', { query }),
  counts: (query) => asked('/v1/queue/counts', { query }),
  act: (body) => asked('POST /v1/queue/acts', { body }),
  acts: (query) => asked('/v1/queue/acts', { query }),
  oneAct: (id) => asked('/v1/queue/acts/{id}', { path: { id } }),
  stop: (id) => asked('POST /v1/queue/acts/{id}/stop', { path: { id } }),
  holds: (query) => asked('/v1/queue/holds', { query }),
  hold: (body) => asked('POST /v1/queue/holds', { body }),
  lift: (id) => asked('POST /v1/queue/holds/{id}/release', { path: { id } }),
}
