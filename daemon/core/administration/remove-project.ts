/**
 * Removes the data of a deleted project in small writes. The order allows a crash after any write. The record of the project is removed
 * after all other data, and its removal key last.
 */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Identified, RecordKind } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { removeSites } from '../sites/remove-sites.ts'
import { removeForms } from '../forms/remove-forms.ts'
import { alertChannels, type AlertChannel } from '../alerts/channels/alert-channel.ts'
import { readState, removeState } from '../alerts/channel-state.ts'
import { apiKeys } from '../access/keys/api-key.ts'
import { keyUses } from '../access/keys/key-uses.ts'
import { smtpCredentials } from '../access/smtp-credential.ts'
import { inboxes } from '../capture/capture.ts'
import { lastNotifyKey } from '../capture/notify/last-notify.ts'
import { readMarkKey } from '../capture/reading/read-marks.ts'
import { removeMessages } from '../inbound-routes/remove-mail.ts'
import { inboundRoutes } from '../inbound-routes/route.ts'
import { allLevels, countsPrefix } from '../insights/levels.ts'
import { actCounterKey, counterNames, openActKey, queueActRecords, type QueueAct } from '../delivery/acts/queue-act.ts'
import { findings, isEndToTell, keyBeside, type Finding } from '../findings/finding.ts'
import { inspectTests, keysBeside } from '../inspect/inspect-test.ts'
import { oauthGrants } from '../oauth/grants/grant.ts'
import { publishableKeys } from '../publishable/publishable-key.ts'
import { discardTrace } from '../retention/remove-trace.ts'
import { destinations } from '../routing/destination.ts'
import { destinationEvidence } from '../routing/destination-evidence.ts'
import { queueHolds } from '../routing/queue-hold.ts'
import { failoverPolicies } from '../routing/failover-policy.ts'
import { routingRules } from '../routing/rule.ts'
import { onlyProjectOf, openReplayKey, replayJobs } from '../submission/replay/replay-job.ts'
import { removeTemplate, templates } from '../templates/template.ts'
import { forgetProject } from '../plan/forget-project.ts'
import { projectCounters } from '../tenancy/counters.ts'
import { projects } from '../tenancy/organization.ts'
import { traces } from '../trace/trace.ts'
import { webhookEndpoints } from '../webhooks/endpoint.ts'
import { removeDeliveries } from '../webhooks/sending/cleanup.ts'

/** Dependencies of a removal. `stopping` is called between two writes. */
export interface RemovalWork {
  readonly database: Database
  readonly nowMs: number
  /** Whether unsubscribe links in sent mail keep working, as for any removed trace. */
  readonly keepsLinks: boolean
  /** Whether ended findings of a project stay until channels have told their end, for a day at most. */
  readonly keepsUntold?: boolean
  readonly stopping: () => boolean
}

/** An ended finding waits for channels that tell its end for this time. */
const untoldMs = 86_400_000
/** Number of rows in one write. */
const batch = 100
/** Maximum number of consecutive attempts without progress. */
const maxFruitless = 100

/**
 * Returns false if it was stopped early, or if channels have to tell the end of findings first; another call continues, also after the
 * record of the project is removed.
 */
export async function removeProject(work: RemovalWork, organizationId: string, projectId: string): Promise<boolean> {
  const { database, nowMs, stopping } = work
  const isOfProject = (record: { readonly projectId: string | null }): boolean => record.projectId === projectId
  await removeRecords(work, apiKeys, organizationId, isOfProject)
  await removeRecords(work, keyUses, organizationId, isOfProject)
  await removeRecords(work, publishableKeys, organizationId, isOfProject)
  await removeRecords(work, smtpCredentials, organizationId, isOfProject)
  await removeRecords(work, oauthGrants, organizationId, isOfProject)
  await removeRecords(work, routingRules, organizationId, isOfProject)
  await removeRecords(work, failoverPolicies, organizationId, isOfProject)
  await removeRecords(work, destinations, organizationId, isOfProject)
  await removeRecords(work, destinationEvidence, organizationId, isOfProject)
  await removeRecords(work, inspectTests, organizationId, isOfProject, (inspected) => keysBeside(organizationId, inspected))
  const isUntold = (finding: Finding): boolean => work.keepsUntold === true && isEndToTell(finding, nowMs - untoldMs)
  const isDone = (finding: Finding): boolean => isOfProject(finding) && !isUntold(finding)
  await removeRecords(work, findings, organizationId, isDone, (finding) => [keyBeside(organizationId, finding)])
  await removeRecords(work, inboxes, organizationId, isOfProject, ({ id }) => [lastNotifyKey(organizationId, id)])
  await removeRecords(
    work,
    replayJobs,
    organizationId,
    (job) => onlyProjectOf(job) === projectId,
    ({ id }) => [openReplayKey(organizationId, id)],
  )
  await removeRecords(work, queueHolds, organizationId, (hold) => queueHolds.projectOf(hold) === projectId)
  await removeActs(work, organizationId, (act) => queueActRecords.projectOf(act) === projectId)
  for (const { record } of await database.all(webhookEndpoints, { organizationId }))
    if (isOfProject(record)) await removeDeliveries(work, organizationId, record.id)
  await removeRecords(work, webhookEndpoints, organizationId, isOfProject)
  for (const { record } of await database.all(inboundRoutes, { organizationId }))
    if (isOfProject(record)) await removeDeliveries(work, organizationId, record.id)
  await removeRecords(work, inboundRoutes, organizationId, isOfProject)
  await removeChannels(work, organizationId, isOfProject)
  await removeMessages(work, organizationId, 'project', projectId)
  await removeDeliveries(work, organizationId, projectId)
  await removeForms(work, organizationId, projectId)
  await removeSites(work, organizationId, projectId)
  await removeTemplates(work, organizationId, projectId)
  await removeTraces(work, organizationId, projectId)
  for (const rows of ['idempotency', 'bulk.report']) await removeRange(work, [organizationId, rows, projectId])
  await removeCounts(work, organizationId, projectId)
  if (stopping() || (await database.all(findings, { organizationId })).some(({ record }) => isOfProject(record))) return false
  await forgetProject(database, organizationId, projectId)
  const stored = await database.get(projects, { organizationId }, projectId)
  if (stored) await removeCounters(work, projectCounters(organizationId, projectId, stored.record.createdAt, nowMs))
  const change = new Change().delete(readMarkKey(organizationId, projectId))
  if (stored) change.remove(projects, organizationId, stored)
  if (!(await database.commit(change)).ok) return false
  await removeCounts(work, organizationId, projectId)
  return !stopping()
}

/** Removes counts before and after the record, because a roll-up adds rows while the record exists. */
async function removeCounts(work: RemovalWork, organizationId: string, projectId: string): Promise<void> {
  for (const level of allLevels) await removeRange(work, countsPrefix(level, organizationId, projectId))
}

/** Removes the records that satisfy `isMeant`, with related rows. For kinds with few records. */
export async function removeRecords<R extends Identified>(
  { database, stopping }: RemovalWork,
  kind: RecordKind<R>,
  organizationId: string,
  isMeant: (record: R) => boolean,
  along: (record: R) => readonly (readonly Element[])[] = () => [],
): Promise<void> {
  while (!stopping()) {
    const rows = (await database.all(kind, { organizationId })).filter(({ record }) => isMeant(record)).slice(0, batch)
    if (rows.length === 0) return
    const change = new Change()
    for (const stored of rows) {
      change.remove(kind, organizationId, stored)
      for (const key of along(stored.record)) change.delete(key)
    }
    await database.commit(change) // if a record changed concurrently, the next iteration reads it again
  }
}

/** Removes alert channels with their deliveries and states. */
async function removeChannels(work: RemovalWork, organizationId: string, isMeant: (channel: AlertChannel) => boolean): Promise<void> {
  const { database, stopping } = work
  for (const stored of await database.all(alertChannels, { organizationId })) {
    const { record } = stored
    if (!isMeant(record) || !(await removeDeliveries(work, organizationId, record.id)) || stopping()) continue
    const change = new Change().remove(alertChannels, organizationId, stored)
    removeState(change, organizationId, record.id, await readState(database, organizationId, record.id))
    await database.commit(change)
  }
}

/** Removes acts on the queue with their counters. */
export const removeActs = (work: RemovalWork, organizationId: string, isMeant: (act: QueueAct) => boolean): Promise<void> =>
  removeRecords(work, queueActRecords, organizationId, isMeant, ({ id }) => [
    openActKey(organizationId, id),
    ...counterNames.map((name) => actCounterKey(organizationId, id, name)),
  ])

/** Removes templates with all their versions. */
async function removeTemplates({ database, stopping }: RemovalWork, organizationId: string, projectId: string): Promise<void> {
  while (!stopping()) {
    const { rows } = await database.list(templates, { organizationId }, { index: 'project', values: [projectId], limit: 1, forWork: true })
    const [stored] = rows
    if (!stored) return
    await database.commit(removeTemplate(new Change(), organizationId, stored))
  }
}

/** Removes traces with content, attempts, captures and queue entries. */
async function removeTraces(
  { database, nowMs, keepsLinks, stopping }: RemovalWork,
  organizationId: string,
  projectId: string,
): Promise<void> {
  const all = within([organizationId, traces.name, projectId])
  for (let fruitless = 0; !stopping();) {
    const ids: string[] = []
    for await (const { key } of database.kv.range({ ...all, limit: batch })) ids.push(String(unpack(key).at(-1)))
    if (ids.length === 0) return
    const gone = await Promise.all(ids.map((id) => discardTrace(database, organizationId, id, keepsLinks ? nowMs : undefined)))
    fruitless = gone.some(Boolean) ? 0 : fruitless + 1
    if (fruitless > maxFruitless) throw new Error(`traces of the project ${projectId} cannot be removed; run postern verify`)
  }
}

/** Removes all rows under a prefix except one. */
export async function removeRange({ database, stopping }: RemovalWork, prefix: readonly Element[], except?: Uint8Array): Promise<void> {
  while (!stopping()) {
    const change = new Change()
    for await (const { key } of database.kv.range({ ...within(prefix), limit: batch }))
      if (!except || Buffer.compare(key, except) !== 0) change.deletes.push(key)
    if (change.deletes.length === 0) return
    await database.commit(change)
  }
}

export async function removeCounters({ database }: RemovalWork, keys: readonly (readonly Element[])[]): Promise<void> {
  for (let at = 0; at < keys.length; at += batch) {
    const change = new Change()
    for (const key of keys.slice(at, at + batch)) change.delete(key)
    await database.commit(change)
  }
}
