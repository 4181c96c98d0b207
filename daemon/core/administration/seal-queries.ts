/** Seals the queries of webhook URLs that an earlier release stored in plain text. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Identified, RecordKind } from '#store/record-kind.ts'
import { owners } from '#store/upgrade/carry.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { inboxes, notifyContext } from '../capture/capture.ts'
import { formNotifications, webhookSecretContext } from '../forms/notifications/notification.ts'
import { inboundRoutes, routeSecretContext } from '../inbound-routes/route.ts'
import { secretContext, webhookEndpoints } from '../webhooks/endpoint.ts'
import { isSealed, keptUrl } from '../webhooks/endpoints/target-url.ts'

/** Idempotent. Returns the number of sealed URLs. */
export async function sealQueries(database: Database, secrets: SecretBox): Promise<number> {
  let sealed = 0
  for await (const organizationId of owners(database)) {
    const seal = async <R extends Identified>(
      kind: RecordKind<R>,
      urlOf: (record: R) => string | null | undefined,
      withUrl: (record: R, url: (context: string) => string) => R,
    ): Promise<void> => {
      for (const stored of await database.all(kind, { organizationId })) {
        const url = urlOf(stored.record)
        if (url == null || isSealed(url)) continue
        const record = withUrl(stored.record, (context) => keptUrl(secrets, url, context))
        await database.commit(new Change().replace(kind, organizationId, stored, record))
        sealed++
      }
    }
    await seal(
      webhookEndpoints,
      ({ targetUrl }) => targetUrl,
      (record, url) => ({ ...record, targetUrl: url(secretContext(record.id)) }),
    )
    await seal(
      inboundRoutes,
      ({ webhookUrl }) => webhookUrl,
      (record, url) => ({ ...record, webhookUrl: url(routeSecretContext(record.id)) }),
    )
    await seal(
      formNotifications,
      ({ webhookUrl }) => webhookUrl,
      (record, url) => ({ ...record, webhookUrl: url(webhookSecretContext(record.id)) }),
    )
    await seal(
      inboxes,
      ({ notifyWebhookUrl }) => notifyWebhookUrl,
      (record, url) => ({ ...record, notifyWebhookUrl: url(notifyContext(record.id)) }),
    )
  }
  return sealed
}
