/** Inbound routes, composed: the routes, who takes mail for them, what is made of it, and the mail for its owners. */
import { publicUrl, type Config } from '#config/settings/load.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import type { MessageReader } from '#core/capture/reading/message-reader.ts'
import type { Clock } from '#core/clock.ts'
import { InboundMail } from '#core/inbound-routes/inbound-mail.ts'
import { InboundRoutes } from '#core/inbound-routes/inbound-routes.ts'
import { RouteIntake } from '#core/inbound-routes/route-intake.ts'
import { Preparation } from '#core/inbound-routes/preparation.ts'
import { addressGuard, type AllowedRange } from '#core/outbound/address-guard.ts'
import { systemLookUp, type LookUp, type Resolver } from '#core/outbound/resolver.ts'
import type { SettingWrites } from '#core/writes/setting-writes.ts'
import type { WebhookSettingsSource } from '#core/webhooks/webhook-settings.ts'
import { AuthenticationThread } from '#ingest/authentication/authentication-thread.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import type { Database } from '#store/database.ts'

export interface InboundParts {
  readonly database: Database
  readonly policies: WebhookSettingsSource
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly writes: SettingWrites
  readonly resolver: Resolver
  /** In place of the name servers of the configuration. */
  readonly lookUp?: LookUp | undefined
  /** For people; what comes in has a reader of its own, so that hostile mail keeps nobody waiting. */
  readonly reader: MessageReader
  readonly onError: (error: unknown, id: string) => void
}

export interface InboundSettings {
  /** What besides the public internet webhooks may be sent to. */
  readonly allowed: readonly AllowedRange[]
  readonly hostname: string
  /** Name servers; the system's own when empty. */
  readonly dnsServers: readonly string[]
  readonly inboundDomain: string | null
  readonly baseUrl: string
}

export const inboundSettings = (config: Config): InboundSettings => ({
  allowed: config.outbound.allow.webhooks,
  hostname: config.smtpHost,
  dnsServers: config.outbound.dnsServers,
  inboundDomain: config.inboundDomain,
  baseUrl: publicUrl(config, config.http.listen),
})

export interface InboundCore {
  readonly inboundRoutes: InboundRoutes
  readonly inboundMail: InboundMail
  readonly routeIntake: RouteIntake
  readonly preparation: Preparation
}

export function inboundCore({ lookUp, ...parts }: InboundParts, { allowed, dnsServers, ...settings }: InboundSettings): InboundCore {
  const base = { ...parts, ...settings }
  const authenticator = new AuthenticationThread({ ...base, resolve: lookUp ?? systemLookUp(dnsServers) })
  return {
    inboundRoutes: new InboundRoutes({ ...base, guard: addressGuard(allowed) }),
    inboundMail: new InboundMail(base),
    routeIntake: new RouteIntake(base),
    preparation: new Preparation({ ...base, reader: new WorkerMessageReader(parts.clock), authenticator }),
  }
}
