/** Mails to members who can read billing when credits are nearly used up: one mail for each threshold. */
import type { Entry } from '#store/kv.ts'
import { unpack } from '#store/tuple.ts'
import { alertPercentOf, creditAlertKey, creditAlertPrefix, creditAlertWork } from '../../billing/credits/alert.ts'
import { Change } from '#store/change.ts'
import { organizations } from '../../tenancy/organization.ts'
import { creditMail } from './mail-texts.ts'
import { MemberNotices, membersWho, type MemberNoticesOptions } from './member-notices.ts'

export const creditNotices = (options: MemberNoticesOptions): MemberNotices =>
  new MemberNotices(options, { work: creditAlertWork, prefix: creditAlertPrefix, notify: (row) => notify(options, row) })

/** If the row changed in the meantime, the commit fails and the next round reads the row again. */
async function notify({ database, mail, outbox }: MemberNoticesOptions, { key, value, version }: Entry): Promise<void> {
  const organizationId = String(unpack(key).at(-1))
  const row = creditAlertKey(organizationId)
  const change = new Change().check(row, version).delete(row)
  const organization = (await database.get(organizations, { organizationId }, organizationId))?.record
  if (organization && organization.deletedAt === undefined && (await mail.isReady())) {
    const text = creditMail(organization.name, alertPercentOf(value), mail.urlOf(`/organizations/${organizationId}/usage`))
    for (const { email } of await membersWho(database, organizationId, ({ seesBilling }) => seesBilling))
      await outbox.add(change, email, text)
  }
  await database.commit(change)
}
