/**
 * Settings whose values the audit log shows: an allow list, so that a new field shows only its name until it is listed here. Excludes
 * secrets in any form, logins, and URLs, because many contain a token.
 */

const ofSenders = ['name', 'label', 'projectId', 'expiresAt', 'failureNotices', 'failureNoticeTo'] as const

const openFields: Readonly<Record<string, readonly string[]>> = {
  alert_channel: ['name', 'projectId', 'kind', 'language', 'minSeverity', 'groups', 'afterMinutes', 'quietHours', 'isOn', 'confirmedAt'],
  api_key: [...ofSenders, 'scopes', 'revokedAt'],
  destination: [
    ...(['name', 'projectId', 'shared', 'environment', 'priority', 'mode', 'from', 'maxConnections', 'maxRatePerMin'] as const),
    ...(['provider', 'preset', 'host', 'port', 'security', 'tlsPolicy'] as const),
  ],
  failover_policy: ['projectId', 'primaryId', 'fallbackIds', 'on', 'latencyMs'],
  inbound_route: ['projectId', 'localPartPattern'],
  inbox: ['name', 'projectId', 'addressPattern', 'retentionDays'],
  ingest_source: ['label', 'provider'],
  member: ['role'],
  organization: ['name', 'plan', 'overrides', 'paymentState', 'flags', 'deletedAt'],
  postoffice_mapping: ['postoffice', 'projectId', 'defaultDestinationId'],
  project: [
    ...(['name', 'parentId', 'status', 'noRoutePolicy', 'agentSendApproval', 'environment'] as const),
    ...(['sendBudget', 'monthlyCaptureCap', 'deletedAt'] as const),
  ],
  publishable_key: ['name', 'projectId', 'allowedOrigins', 'allowedTo', 'lockedFrom', 'ratePreset', 'rates', 'revokedAt'],
  routing_rule: ['projectId', 'match', 'destinationId', 'environment', 'priority'],
  sending_domain: ['status'],
  smtp_credential: [
    ...ofSenders,
    ...(['allowedFromDomains', 'enforceHeaderFrom', 'defaultDestinationId', 'environment', 'maxRatePerMin', 'maxMessageBytes'] as const),
    ...(['verpEnabled', 'verpBounceDomain', 'clickTrackingEnabled', 'openTrackingEnabled'] as const),
  ],
  suppression: ['reason', 'expiresAt', 'projectId'],
  template: ['name', 'slug', 'projectId', 'currentVersion'],
  webhook_endpoint: ['name', 'projectId', 'eventTypes', 'pausedAt', 'format'],
}

export const isOpen = (kind: string, field: string): boolean => openFields[kind]?.includes(field) === true

/** Hides the storage form of secrets. */
export const wireName = (field: string): string =>
  /^sealed|fingerprint|sha256|preview/i.test(field) ? 'secret' : field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const maxText = 300
const maxEntries = 50

/** Returns the value for the log, shortened, with wire names. A missing field is null. */
export function shownValue(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string' && value.length > maxText) return `${value.slice(0, maxText)}…`
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(shownValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxEntries)
      .map(([name, inner]) => [wireName(name), shownValue(inner)]),
  )
}
