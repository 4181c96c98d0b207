/** Queue operations on an organization for the operator. */
import { link } from '../app/location.ts'
import { asked, type QueueSide } from '../queue-side/queue-side.ts'

export function organizationQueue(organization: string, organizationName: string): QueueSide {
  const path = { id: organization }
  return {
    ...{ organization, organizationName },
    mayChange: () => true,
    queueLink: (query) => link('/operator/queue', { organization, ...query }),
    actsLink: (id) => link(id === undefined ? '/operator/queue/acts' : `/operator/queue/acts/${id}`, { organization }),
    auditLink: (actId) => link(`/operator/organizations/${organization}`, { tab: 'audit', target: actId }),
    messages: (query) => asked('/operator/v1/organizations/{id}/queue', { path, query }),
    counts: (query) => asked('/operator/v1/organizations/{id}/queue/counts', { path, query }),
    act: (body) => asked('POST /operator/v1/organizations/{id}/queue/acts', { path, body }),
    acts: () => asked('/operator/v1/organizations/{id}/queue/acts', { path }),
    oneAct: (id) => asked('/operator/v1/organizations/{id}/queue/acts/{act_id}', { path: { ...path, act_id: id } }),
    stop: (id) => asked('POST /operator/v1/organizations/{id}/queue/acts/{act_id}/stop', { path: { ...path, act_id: id } }),
    holds: () => asked('/operator/v1/organizations/{id}/queue/holds', { path }),
    hold: (body) => asked('POST /operator/v1/organizations/{id}/queue/holds', { path, body }),
    lift: (id) => asked('POST /operator/v1/organizations/{id}/queue/holds/{hold_id}/release', { path: { ...path, hold_id: id } }),
  }
}
