/** The core: what all of it works with, who may do what, and the lives of organizations. */
import { grantStands } from '#core/oauth/grants/grant.ts'
import { pagesUrl } from '#config/settings/load.ts'
import { ApiKeys } from '#core/access/keys/api-keys.ts'
import { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import { Claims } from '#core/claims/claims.ts'
import { people } from '#core/people/people.ts'
import { Retention } from '#core/retention/retention.ts'
import { Policies } from '#core/routing/policy/policy.ts'
import { Audit } from '#core/writes/audit.ts'
import { SettingWrites } from '#core/writes/setting-writes.ts'
import { administration } from '../administration.ts'
import { oauthServer } from '../oauth-core.ts'
import { broke, T, type Add } from '../parts.ts'

export function addCore(add: Add): void {
  add(T.Core, ({ get, config, secrets }) => {
    const database = get(T.Database)
    const clock = get(T.Clock)
    const audit = new Audit({ database, clock })
    const policies = new Policies(database, config.systemMail.destination)
    return { database, clock, secrets, policies, audit, writes: new SettingWrites(database, audit) }
  })
  add(T.ApiKeys, ({ get }) => {
    const core = get(T.Core)
    return new ApiKeys({ ...core, rightsOfMember: get(T.People).members.permissionsOf, grantStands: grantStands(core.database) })
  })
  add(T.Credentials, ({ get, config }) => new SmtpCredentials({ ...get(T.Core), bounceDomain: config.inboundDomain }))
  add(T.OAuth, oauthServer)
  add(T.People, (composition) => {
    const { get, config } = composition
    const { signUp, systemMail } = config
    const baseUrl = pagesUrl(config, config.http.listen)
    const onError = broke(composition, 'mail of the service')
    return people({ ...get(T.Core), signUp, systemMail, accept: get(T.Accept), baseUrl, onError })
  })
  add(T.Claims, ({ get }) => new Claims({ ...get(T.Core), people: get(T.People), sandboxes: get(T.OAuth).sandboxes }))
  add(T.Administration, administration)
  add(T.Retention, (composition) => {
    const { get } = composition
    return new Retention({ ...get(T.Core), random: get(T.Random), onError: broke(composition, 'retention') })
  })
}
