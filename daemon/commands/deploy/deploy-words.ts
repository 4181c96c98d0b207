/** The words of `postern deploy`. Reads nothing and does nothing. */

export interface DeployWords {
  /** Which daemon, and with which key; see `DaemonChoice`. */
  readonly url: string | undefined
  readonly key: string | undefined
  readonly folder: string
  /** Name or id of the website. */
  readonly site: string
  /** Visitors do not get it yet. */
  readonly isPreview: boolean
  readonly asJson: boolean
}

export const deployOptions = { site: { type: 'string' }, preview: { type: 'boolean' } } as const

/** Words that do not say which website is meant. */
class SiteUnclear extends Error {}

/** Throws `SiteUnclear`. */
export function deployWords(folder: string, values: Readonly<Record<string, unknown>>): Omit<DeployWords, 'url' | 'key'> {
  const { site } = values
  if (typeof site !== 'string' || site === '') throw new SiteUnclear('deploy needs --site and the name of a website.')
  return { folder, site, isPreview: values['preview'] === true, asJson: values['json'] === true }
}
