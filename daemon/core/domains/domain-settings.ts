/** Shape of the settings that sending domains use. The cached policy of an organization has this shape. */

interface DestinationFacts {
  readonly projectId: string
  readonly shared?: unknown
  readonly provider: string
  /** Only for SMTP servers. */
  readonly host?: string
}

/** The part of an organization's settings that records depend on. */
export interface DomainSettings {
  readonly destinations: ReadonlyMap<string, DestinationFacts>
}
