/** Mail that came by an inbound route, put into the store. */
import { inboundMessages, weightOf } from '#core/inbound-routes/message.ts'
import { storedInboundCounter } from '#core/tenancy/counters.ts'
import { Change } from '#store/change.ts'
import { Draft } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { newId } from '#store/ids.ts'

/** A mail with an attachment that came by the route; answers its id. */
export async function addInboundMail(database: Database, organizationId: string, routeId: string, projectId: string): Promise<string> {
  const id = newId('inm', Date.now())
  const draft = new Draft(database, organizationId, id)
  await draft.write(Buffer.from('Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nx\r\n'))
  const none = { result: 'none', domain: null }
  const authentication = { spf: none, dkim: [], dmarc: { ...none, policy: null }, arc: { result: 'none' } }
  const change = new Change()
  const content = draft.seal(change)
  change.add(storedInboundCounter(organizationId), weightOf({ content }))
  change.insert(inboundMessages, organizationId, {
    content,
    ...{ id, routeId, projectId, mailFrom: '', recipients: [], remoteAddress: '', helo: '', isEncrypted: false, receivedAt: 1, prefix: '' },
    prepared: { subject: '', from: [], unreadable: null, authentication, deliveryId: 'wha_1' },
  })
  await database.commit(change)
  return id
}
