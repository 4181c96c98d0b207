/** The delivery queue of any organization, for the operator. */
import * as z from 'zod'
import type { ActRequester } from '#core/delivery/acts/queue-acts.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import { action, type Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import type { RestCore } from '../rest/rest-core.ts'
import {
  dryRun,
  makeAct,
  queueActTexts,
  queueCountTexts,
  queueHoldReleaseTexts,
  queueHoldTexts,
  queueListTexts,
  statusOfAct,
} from '../rest/sending/queue.ts'
import { newQueueAct, queueAct } from '../wire/sending/queue.ts'
import { newQueueHold, queueHold } from '../wire/sending/queue-holds.ts'
import { id } from '../wire/fields/text.ts'

const all = '/operator/v1/organizations'
const shared = { tags: ['operator'], scope: 'operator' } as const
const organizations = resource(all, { name: 'Organization', ...shared })
const ids = z.strictObject({ id, act_id: id })
const oneAct = `${all}/{id}/queue/acts/{act_id}`

/** Returns a principal that changes the data of the whole organization. */
const administratorOf = ({ id: organizationId, defaultProjectId }: Organization): Principal => ({
  ...{ organizationId, projectId: defaultProjectId, bound: false },
  ...{ scopes: ['api:admin'], credentialId: '' },
})

const inside = async ({ operator }: RestCore, organizationId: string): Promise<Principal> =>
  administratorOf((await operator.get(organizationId)).organization)
const requester = async (core: RestCore, organizationId: string, operatorId: string | undefined): Promise<ActRequester> => ({
  principal: await inside(core, organizationId),
  actor: { kind: 'operator', id: operatorId ?? '' },
})
export const operatorQueueActions: readonly Action<RestCore>[] = [
  organizations.listOf('queue', {
    ...queueListTexts,
    id: 'operatorListQueue',
    run: async ({ core }, { id: owner, held, ...page }) => core.queueActs.waiting(await inside(core, owner), { ...page, isHeld: held }),
  }),
  organizations.readOf('queue/counts', {
    ...queueCountTexts,
    id: 'operatorCountQueue',
    run: async ({ core }, { id: owner, project, held, ...filter }) =>
      core.queueActs.counts(await inside(core, owner), { ...filter, projectId: project, isHeld: held }),
  }),
  organizations.listOf('queue/acts', {
    ...{ id: 'operatorListQueueActs', summary: 'List queue actions of an organization, newest first', item: queueAct },
    run: async ({ core }, { id: owner, ...page }) => core.queueActs.list(await inside(core, owner), page),
  }),
  action({
    ...queueActTexts,
    ...shared,
    id: 'operatorCreateQueueAct',
    errors: ['not_found', 'conflict'],
    input: newQueueAct.extend({ id }),
    output: queueAct,
    http: { method: 'POST', path: `${all}/{id}/queue/acts`, status: 201, otherResponses: { 200: dryRun }, statusOf: statusOfAct },
    run: async ({ core, client }, { id: owner, ...asked }) =>
      makeAct(core.queueActs, await requester(core, owner, client.operatorId), asked),
  }),
  organizations.listOf('queue/holds', {
    ...{ id: 'operatorListQueueHolds', summary: 'List the standing holds of an organization', item: queueHold },
    run: async ({ core }, { id: owner, ...page }) => core.queueHolds.list(await inside(core, owner), page),
  }),
  action({
    ...queueHoldTexts,
    ...shared,
    id: 'operatorCreateQueueHold',
    input: newQueueHold.extend({ id }),
    http: { method: 'POST', path: `${all}/{id}/queue/holds`, status: 201 },
    run: async ({ core, client }, { id: owner, ...asked }) =>
      core.queueHolds.create(await requester(core, owner, client.operatorId), asked),
  }),
  action({
    ...queueHoldReleaseTexts,
    ...shared,
    id: 'operatorReleaseQueueHold',
    input: z.strictObject({ id, hold_id: id }),
    http: { method: 'POST', path: `${all}/{id}/queue/holds/{hold_id}/release` },
    run: async ({ core, client }, { id: owner, holdId }) =>
      core.queueHolds.release(await requester(core, owner, client.operatorId), holdId),
  }),
  action({
    ...shared,
    ...{ id: 'operatorGetQueueAct', summary: 'Get a queue action of an organization', errors: ['not_found'] },
    ...{ input: ids, output: queueAct, http: { method: 'GET', path: oneAct } },
    run: async ({ core }, { id: owner, actId }) => core.queueActs.get(await inside(core, owner), actId),
  }),
  action({
    ...shared,
    ...{ id: 'operatorStopQueueAct', summary: 'Stop a queue action of an organization', errors: ['not_found'] },
    ...{ input: ids, output: queueAct, http: { method: 'POST', path: `${oneAct}/stop` } },
    run: async ({ core, client }, { id: owner, actId }) => core.queueActs.stop(await requester(core, owner, client.operatorId), actId),
  }),
]
