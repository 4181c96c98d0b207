/** Composes inbound routes: the routes, their intake, the preparation of messages, and access to the mail. */
import { publicUrl } from '#config/settings/load.ts'
import { reported } from '#core/activity.ts'
import { InboundMail } from '#core/inbound-routes/inbound-mail.ts'
import { InboundRoutes } from '#core/inbound-routes/inbound-routes.ts'
import { InboundRouteTests } from '#core/inbound-routes/route-test.ts'
import { RouteIntake } from '#core/inbound-routes/route-intake.ts'
import { Preparation } from '#core/inbound-routes/preparation.ts'
import { systemLookUp } from '#core/outbound/resolver.ts'
import { AuthenticationThread } from '#ingest/authentication/authentication-thread.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import type { InboundCore } from './composed.ts'
import { broke, guardOf, type Composition } from './parts.ts'

export function inboundCore(composition: Composition): InboundCore {
  const { get, config, replace } = composition
  const { outbound, inboundDomain, smtpHost: hostname } = config
  const core = get('core')
  const resolver = get('resolver')
  const base = { ...core, resolver, hostname, inboundDomain, baseUrl: publicUrl(config, config.http.listen) }
  const resolve = replace.lookUp ?? systemLookUp(outbound.dnsServers)
  return {
    inboundRoutes: new InboundRoutes({ ...base, guard: guardOf(composition, outbound.allow.webhooks) }),
    inboundTests: new InboundRouteTests({ ...base, tests: get('webhooks').webhookTests }),
    inboundMail: new InboundMail({ ...base, reader: get('reader') }),
    routeIntake: new RouteIntake(base),
    preparation: new Preparation({
      ...base,
      // incoming mail has a separate reader, so that hostile mail does not delay other messages
      reader: reported(get('activity'), new WorkerMessageReader(core.clock), { read: 'reading of mail for a route' }),
      authenticator: reported(get('activity'), new AuthenticationThread({ ...base, resolve }), { authenticate: 'authentication of mail' }),
      onError: broke(composition, 'the preparation of mail for a route'),
    }),
  }
}
