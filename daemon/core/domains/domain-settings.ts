/** What sending domains must know of the nouns above them, as a shape: the cached policy of an organization has it. */

interface DestinationFacts {
  readonly projectId: string
  readonly shared?: unknown
  readonly provider: string
  /** Of an SMTP server. */
  readonly host?: string
}

/** The part of an organization's settings that records depend on. */
export interface DomainSettings {
  readonly destinations: ReadonlyMap<string, DestinationFacts>
}
