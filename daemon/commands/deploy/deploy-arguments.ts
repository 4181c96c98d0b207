/** Options of `postern deploy`. Reads no files and runs nothing. */

export interface DeployArguments {
  /** The daemon to call and the API key; see `DaemonChoice`. */
  readonly url: string | undefined
  readonly key: string | undefined
  readonly folder: string
  /** Name or id of the website. */
  readonly site: string
  /** True if the deployment is not activated. */
  readonly isPreview: boolean
  readonly asJson: boolean
}

export const deployOptions = { site: { type: 'string' }, preview: { type: 'boolean' } } as const

/** The options do not name a website. */
class SiteUnclear extends Error {}

/** Throws `SiteUnclear`. */
export function deployArguments(folder: string, values: Readonly<Record<string, unknown>>): Omit<DeployArguments, 'url' | 'key'> {
  const { site } = values
  if (typeof site !== 'string' || site === '') throw new SiteUnclear('deploy needs --site and the name of a website.')
  return { folder, site, isPreview: values['preview'] === true, asJson: values['json'] === true }
}
