/** Composes the core: shared parts, access control, and the life cycle of organizations. */
import { grantStands } from '#core/oauth/grants/grant.ts'
import { pagesUrl } from '#config/settings/load.ts'
import { ApiKeys } from '#core/access/keys/api-keys.ts'
import { KeyUses } from '#core/access/keys/key-uses.ts'
import { SmtpCredentials } from '#core/access/smtp-credentials.ts'
import { Claims } from '#core/claims/claims.ts'
import { repairedDomain } from '#core/doctor/domain-check.ts'
import { Settle } from '#core/findings/settle.ts'
import { DomainRounds } from '#core/domains/domain-rounds.ts'
import { SendingDomains } from '#core/domains/sending-domains.ts'
import { Insights } from '#core/insights/insights.ts'
import { AgentCalls } from '#core/billing/agent-calls.ts'
import { ChangeStreams } from '#core/live/change-stream.ts'
import { Changes } from '#core/live/changes.ts'
import { LateCounts } from '#core/insights/late-counts.ts'
import { wholeOrganization } from '#core/insights/levels.ts'
import { RollUp } from '#core/insights/roll-up.ts'
import { people } from '#core/people/people.ts'
import { Retention } from '#core/retention/retention.ts'
import { Policies } from '#core/routing/policy/policy.ts'
import { systemOrganizationId, systemProjectId } from '#core/routing/policy/system-policy.ts'
import { Audit } from '#core/writes/audit.ts'
import { SettingWrites } from '#core/writes/setting-writes.ts'
import { administration } from '../administration.ts'
import { oauthServer } from '../oauth-core.ts'
import { broke, type Add, type Composition } from '../parts.ts'
import { addBilling } from './billing.ts'

export function addCore(add: Add): void {
  add('core', ({ get, config, secrets }) => {
    const database = get('database')
    const clock = get('clock')
    const audit = new Audit({ database, clock })
    const policies = new Policies(database, config.systemMail.destination ?? [])
    return { database, clock, secrets, policies, audit, writes: new SettingWrites(database, audit) }
  })
  add('apiKeys', ({ get }) => {
    const core = get('core')
    return new ApiKeys({ ...core, scopesOfMember: get('people').members.scopesOfMember, grantStands: grantStands(core.database) })
  })
  add('keyUses', ({ get }) => new KeyUses(get('core')))
  add('credentials', ({ get, config }) => {
    return new SmtpCredentials({ ...get('core'), uses: get('keyUses'), bounceDomain: config.inboundDomain })
  })
  add('oauth', oauthServer)
  add('people', (composition) => {
    const { get, config } = composition
    const { signUp, systemMail } = config
    const baseUrl = pagesUrl(config, config.http.listen)
    const onError = broke(composition, 'mail of the service')
    return people({ ...get('core'), signUp, systemMail, accept: get('accept'), baseUrl, onError })
  })
  add('sendingDomains', ({ get, config }) => {
    const publishing = { spfMechanisms: config.outbound.spf, bounceDomain: config.inboundDomain, mxHost: config.smtpHost }
    return new SendingDomains({
      ...{ ...get('core'), resolver: get('resolver'), publishing },
      onAdded: (organizationId) => get('watch').note(organizationId, wholeOrganization),
      onChecked: (organizationId, looked) => repairedDomain(get('settle'))(organizationId, looked),
    })
  })
  add('domainRounds', (composition) => {
    const { get } = composition
    return new DomainRounds({
      ...get('core'),
      domains: get('sendingDomains'),
      onError: broke(composition, 'the check of a sending domain'),
    })
  })
  add('claims', ({ get }) => new Claims({ ...get('core'), people: get('people'), sandboxes: get('oauth').sandboxes }))
  add('administration', administration)
  add('changeStreams', ({ get }) => new ChangeStreams({ ...get('core'), changes: new Changes(get('database')) }))
  add('settle', settleOf)
  add('insights', ({ get }) => new Insights(get('core')))
  add('agentCalls', (composition) => new AgentCalls({ ...composition.get('core'), onError: broke(composition, 'agent calls') }))
  add('lateCounts', (composition) => new LateCounts({ ...composition.get('core'), onError: broke(composition, 'counts') }))
  add('rollUp', (composition) => {
    const others = [{ organizationId: systemOrganizationId, projectId: systemProjectId }]
    return new RollUp({ ...composition.get('core'), others, onError: broke(composition, 'sums of counts') })
  })
  addBilling(add)
  add('retention', (composition) => {
    const { get } = composition
    return new Retention({ ...get('core'), random: get('random'), onError: broke(composition, 'retention') })
  })
}

function settleOf({ get }: Composition): Settle {
  const { database, clock } = get('core')
  return new Settle({
    ...{ database, clock, isRunning: (daemon) => database.daemons.isRunning(daemon) },
    onChanged: (change, organizationId, changed) => get('alertBook').findingsChanged(change, organizationId, changed),
  })
}
