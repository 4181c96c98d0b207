/** Mails to the administrators of an organization after an automatic check verified a sending domain. Alerts report lost records. */
import { Change } from '#store/change.ts'
import type { Entry } from '#store/kv.ts'
import { unpack } from '#store/tuple.ts'
import { domainChangeOf, domainChangePrefix, domainChangeWork } from '../../domains/domain-change.ts'
import { organizations } from '../../tenancy/organization.ts'
import { domainMail } from './mail-texts.ts'
import { MemberNotices, membersWho, type MemberNoticesOptions } from './member-notices.ts'

export const domainNotices = (options: MemberNoticesOptions): MemberNotices =>
  new MemberNotices(options, { work: domainChangeWork, prefix: domainChangePrefix, notify: (row) => notify(options, row) })

/** If the row changed in the meantime, the commit fails and the next round reads the row again. */
async function notify({ database, mail, outbox }: MemberNoticesOptions, { key, value, version }: Entry): Promise<void> {
  const row = unpack(key)
  const [organizationId = '', domainId = ''] = row.slice(domainChangePrefix.length).map(String)
  const change = new Change().check(row, version).delete(row)
  const { domain, isVerified } = domainChangeOf(value)
  const organization = (await database.get(organizations, { organizationId }, organizationId))?.record
  if (isVerified && organization && organization.deletedAt === undefined && (await mail.isReady())) {
    const text = domainMail(organization.name, domain, mail.urlOf(`/domains/${domainId}`))
    for (const { email } of await membersWho(database, organizationId, ({ administersOrganization }) => administersOrganization))
      await outbox.add(change, email, text)
  }
  await database.commit(change)
}
