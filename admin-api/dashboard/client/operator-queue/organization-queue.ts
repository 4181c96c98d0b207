/** Queue operations on an organization for the operator. */
import { link } from '../app/location.ts'
import { asked, type QueueSide } from '../queue-side/queue-side.ts'
import {
  operatorCountQueue,
  operatorCreateQueueAct,
  operatorCreateQueueHold,
  operatorGetQueueAct,
  operatorListQueue,
  operatorListQueueActs,
  operatorListQueueHolds,
  operatorReleaseQueueHold,
  operatorStopQueueAct,
} from '../wire/operations.ts'

export function organizationQueue(organization: string, organizationName: string): QueueSide {
  const path = { id: organization }
  return {
    ...{ organization, organizationName },
    mayChange: () => true,
    queueLink: (query) => link('/operator/queue', { organization, ...query }),
    actsLink: (id) => link(id === undefined ? '/operator/queue/acts' : `/operator/queue/acts/${id}`, { organization }),
    auditLink: (actId) => link(`/operator/organizations/${organization}`, { tab: 'audit', target: actId }),
    messages: (query) => asked(operatorListQueue, { path, query }),
    counts: (query) => asked(operatorCountQueue, { path, query }),
    act: (body) => asked(operatorCreateQueueAct, { path, body }),
    acts: () => asked(operatorListQueueActs, { path }),
    oneAct: (id) => asked(operatorGetQueueAct, { path: { ...path, act_id: id } }),
    stop: (id) => asked(operatorStopQueueAct, { path: { ...path, act_id: id } }),
    holds: () => asked(operatorListQueueHolds, { path }),
    hold: (body) => asked(operatorCreateQueueHold, { path, body }),
    lift: (id) => asked(operatorReleaseQueueHold, { path: { ...path, hold_id: id } }),
  }
}
