/** Resolves a path of a site to a file, another form of the path, or a rule. Skips redirect loops. Pure. */
import type { Found } from './find-file.ts'
import { isRedirect, pathOf, redirectsFor, segmentsOf, type Redirect, type Redirects } from './redirects.ts'

export interface SiteMap {
  /** Host of the request; a URL with this host refers to the same site. */
  readonly host: string
  readonly redirects: Redirects
  /** Returns the file of a decoded path. */
  readonly fileAt: (path: string) => Found | undefined
}

type Step = Found | { readonly rule: Redirect }

/** Maximum number of followed redirects, as in browsers. */
const maxFollowed = 20

/** Returns undefined if neither a file nor a rule matches the decoded path. */
export function stepFrom(site: SiteMap, path: string): Step | undefined {
  let left = maxFollowed
  const start = keyOf(path)
  return stepWith(site, path, (rule) => {
    const seen = new Set<string>()
    for (
      let next = followed(site, { rule });
      next !== undefined;
      next = followed(
        site,
        stepWith(site, next, () => true),
      )
    ) {
      const key = keyOf(next)
      if (key === start || left-- <= 0) return false
      if (seen.has(key)) return true // a loop without this path; it is skipped at its own paths
      seen.add(key)
    }
    return true
  })
}

function stepWith({ redirects, fileAt }: SiteMap, path: string, fits: (rule: Redirect) => boolean): Step | undefined {
  const forced = redirectsFor(redirects, path, true).find(fits)
  if (forced) return { rule: forced }
  const found = fileAt(path)
  if (found) return found
  const rule = redirectsFor(redirects, path).find(fits)
  return rule && { rule }
}

/** Returns the path of this site that a browser requests next. Returns undefined if the browser gets a response or leaves the site. */
function followed({ host }: SiteMap, step: Step | undefined): string | undefined {
  if (!step || 'file' in step) return undefined
  if ('redirect' in step) return `/${step.redirect}`
  const { to, status } = step.rule
  if (!isRedirect(status)) return undefined
  if (to.startsWith('/')) return decoded(pathOf(to))
  const url = URL.parse(to)
  return url?.hostname === host ? decoded(url.pathname) : undefined
}

/** Returns undefined unless the text can be the path of a file. */
export function decoded(path: string): string | undefined {
  try {
    const text = path.includes('%') ? decodeURIComponent(path) : path
    return text.startsWith('/') && !text.includes('\0') ? text : undefined
  } catch {
    return undefined
  }
}

const keyOf = (path: string): string => segmentsOf(path).join('/')
