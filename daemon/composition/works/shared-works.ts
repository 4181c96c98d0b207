/** Background work that one daemon at a time does for all daemons of a shared store. With an embedded store, the only daemon does it. */
import { alertWork } from '#core/alerts/channel-state.ts'
import { readingWork } from '#core/capture/reading/reading-work.ts'
import { domainChangeWork, newDomainWork } from '#core/domains/domain-change.ts'
import { scanWork } from '#core/forms/uploads/submission-file.ts'
import { noticeWork } from '#core/forms/notifications/notice-rows.ts'
import { formRemovalWork } from '#core/forms/submissions/remove.ts'
import { mailboxWork } from '#core/ingest-sources/ingest-source.ts'
import { preparationWork } from '#core/inbound-routes/inbound-message.ts'
import { noticeRows } from '#core/trace/notices/due-notices.ts'
import { askedWork } from '#core/trace/approval/asked.ts'
import { cleanupWork } from '#core/webhooks/sending/cleanup.ts'
import { siteWork } from '#core/sites/site.ts'
import { deliveryWork, resumedWork } from '#core/webhooks/delivery.ts'
import type { SharedWork } from '#store/daemons/daemons.ts'
import type { Daemon } from '../parts.ts'
import { workNames } from './work-names.ts'

/** Time for receivers of webhooks to answer at a stop. Unanswered deliveries are sent again after the next start, with the same id. */
const webhooksEndMs = 2000

/** Creates a work that is woken. A start and a wake-up both look for work in the store. */
const woken = (name: string, part: { wake(): void; stop(): Promise<unknown> }, does?: readonly string[]): SharedWork => ({
  name,
  start: () => part.wake(),
  look: () => part.wake(),
  stop: () => part.stop(),
  ...(does && { does }),
})

/** Like `woken`, for parts that look for work when they start. */
const begun = (name: string, part: { start(): Promise<void> | void; stop(): Promise<unknown> }, does?: readonly string[]): SharedWork => ({
  ...timed(name, part),
  look: () => void part.start(),
  ...(does && { does }),
})

/** Creates a work that looks for work by itself at intervals. */
const timed = (name: string, part: { start(): Promise<void> | void; stop(): Promise<unknown> }): SharedWork => ({
  name,
  start: () => part.start(),
  stop: () => part.stop(),
})

/** Returns the works in order. Later works depend on earlier ones. */
export function sharedWorks(daemon: Daemon): Readonly<Record<'first' | 'afterTransport' | 'afterDelivery', readonly SharedWork[]>> {
  const { ingest, inboxes, housekeeping, retention, rollUp, inbound, webhooks, replayRunner, actRunner, administration, doctor } = daemon
  const { webhookDispatcher } = webhooks
  const dispatcher = { start: () => webhookDispatcher.start(), stop: () => webhookDispatcher.stop(webhooksEndMs) }
  return {
    first: [
      woken(workNames.earlyReports, ingest.pendingReports),
      woken('reading of captures', inboxes.backgroundRead, [readingWork]),
      timed('housekeeping', housekeeping),
      timed('retention', retention),
      timed('sums of counts', rollUp),
    ],
    afterTransport: [
      begun('mail for routes', inbound.preparation, [preparationWork]),
      begun('webhooks', dispatcher, [deliveryWork, resumedWork, cleanupWork]),
    ],
    afterDelivery: [
      begun(workNames.replays, replayRunner),
      begun(workNames.queueActs, actRunner),
      { ...woken(workNames.removals, administration.removals, [formRemovalWork]), start: () => administration.removals.start() },
      begun('notices to authors', daemon.failureNotices, [noticeRows]),
      begun('mail about approvals', daemon.people.approvalNotices, [askedWork]),
      begun('mail about domains', daemon.people.domainNotices, [domainChangeWork]),
      begun('alerts', daemon.alertNotifier, [alertWork]),
      begun('sending domains', daemon.domainRounds, [newDomainWork]),
      timed('billing', daemon.billing.upkeep),
      begun('notifications of forms', daemon.formNotifier, [noticeWork]),
      begun('scans of files', daemon.fileScanning, [scanWork]),
      timed('doctor', { start: () => doctor.hold(), stop: () => doctor.release() }),
      begun('websites', daemon.sites.upkeep, [siteWork]),
      ...(daemon.sites.recheck ? [timed('domains of websites', daemon.sites.recheck)] : []),
    ],
  }
}

/** Returns the work for deliverability tests. */
export const inspectWork = ({ inspect: { inspectScoring } }: Daemon['mailDoors']): SharedWork =>
  woken(workNames.inspectScoring, inspectScoring)

export const pollerWork = ({ poller }: Daemon['mailDoors']): SharedWork => ({ ...timed('polled mailboxes', poller), does: [mailboxWork] })
