/** Queue operations on the current organization. */
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import {
  countQueue,
  createQueueAct,
  createQueueHold,
  getQueueAct,
  listQueueActs,
  listQueuedMessages,
  listQueueHolds,
  releaseQueueHold,
  stopQueueAct,
} from '../wire/operations.ts'
import { asked, type QueueSide } from './queue-side.ts'

export const ownQueue: QueueSide = {
  organization: undefined,
  mayChange: () => mayChange.value,
  queueLink: (query) => link('/queue', query),
  actsLink: (id) => link(id === undefined ? '/queue/history' : `/queue/history/${id}`),
  auditLink: (actId) => link('/settings/audit', { target: actId }),
  messages: (query) => asked(listQueuedMessages, { query }),
  counts: (query) => asked(countQueue, { query }),
  act: (body) => asked(createQueueAct, { body }),
  acts: (query) => asked(listQueueActs, { query }),
  oneAct: (id) => asked(getQueueAct, { path: { id } }),
  stop: (id) => asked(stopQueueAct, { path: { id } }),
  holds: (query) => asked(listQueueHolds, { query }),
  hold: (body) => asked(createQueueHold, { body }),
  lift: (id) => asked(releaseQueueHold, { path: { id } }),
}
