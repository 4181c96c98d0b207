/** What one daemon at a time does for all that share a store; on an embedded store, what the daemon does in the background. */
import { creditAlertWork } from '#core/billing/credits/alert.ts'
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

/** What receivers of webhooks have not answered by then is sent again after the next start, under the same delivery id. */
const webhooksEndMs = 2000

/** Something that is woken, for which a start is another look into the store. */
const woken = (name: string, part: { wake(): void; stop(): Promise<unknown> }, does?: readonly string[]): SharedWork => ({
  name,
  start: () => part.wake(),
  look: () => part.wake(),
  stop: () => part.stop(),
  ...(does && { does }),
})

/** The same for what looks at its start. */
const begun = (name: string, part: { start(): Promise<void> | void; stop(): Promise<unknown> }, does?: readonly string[]): SharedWork => ({
  ...timed(name, part),
  look: () => void part.start(),
  ...(does && { does }),
})

/** What looks by itself now and then. */
const timed = (name: string, part: { start(): Promise<void> | void; stop(): Promise<unknown> }): SharedWork => ({
  name,
  start: () => part.start(),
  stop: () => part.stop(),
})

/** In order: those behind rest on those before. */
export function sharedWorks(daemon: Daemon): Readonly<Record<'first' | 'afterTransport' | 'afterDelivery', readonly SharedWork[]>> {
  const { ingest, inboxes, housekeeping, retention, rollUp, inbound, webhooks, replayRunner, actRunner, administration } = daemon
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
      begun('mail about credits', daemon.people.creditNotices, [creditAlertWork]),
      begun('mail about domains', daemon.people.domainNotices, [domainChangeWork]),
      begun('sending domains', daemon.domainRounds, [newDomainWork]),
      timed('billing', daemon.billing.upkeep),
      begun('notifications of forms', daemon.formNotifier, [noticeWork]),
      begun('scans of files', daemon.fileScanning, [scanWork]),
      begun('websites', daemon.sites.upkeep, [siteWork]),
      ...(daemon.sites.recheck ? [timed('domains of websites', daemon.sites.recheck)] : []),
    ],
  }
}

/** Those of mail that comes in from elsewhere. */
export const inspectWork = ({ inspect: { inspectScoring } }: Daemon['mailDoors']): SharedWork =>
  woken(workNames.inspectScoring, inspectScoring)

export const pollerWork = ({ poller }: Daemon['mailDoors']): SharedWork => ({ ...timed('polled mailboxes', poller), does: [mailboxWork] })
