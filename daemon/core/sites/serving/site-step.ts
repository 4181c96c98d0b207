/** What a path of a site leads to: a file, another form of the path, or a rule. Skips redirects that lead in circles. Pure. */
import type { Found } from './find-file.ts'
import { isRedirect, pathOf, redirectsFor, segmentsOf, type Redirect, type Redirects } from './redirects.ts'

export interface SiteMap {
  /** The host of the request: an address with this host leads to the same site. */
  readonly host: string
  readonly redirects: Redirects
  /** The file of a decoded path. */
  readonly fileAt: (path: string) => Found | undefined
}

type Step = Found | { readonly rule: Redirect }

/** Redirects that are followed for one request, as many as browsers follow. */
const maxFollowed = 20

/** Undefined if neither a file nor a rule fits the decoded path. */
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
      if (seen.has(key)) return true // a circle without this path: it is skipped there
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

/** The path of this site that a browser asks for next; undefined if it gets an answer or leaves the site. */
function followed({ host }: SiteMap, step: Step | undefined): string | undefined {
  if (!step || 'file' in step) return undefined
  if ('redirect' in step) return `/${step.redirect}`
  const { to, status } = step.rule
  if (!isRedirect(status)) return undefined
  if (to.startsWith('/')) return decoded(pathOf(to))
  const url = URL.parse(to)
  return url?.hostname === host ? decoded(url.pathname) : undefined
}

/** Undefined unless it is text that can be the path of a file. */
export function decoded(path: string): string | undefined {
  try {
    const text = path.includes('%') ? decodeURIComponent(path) : path
    return text.startsWith('/') && !text.includes('\0') ? text : undefined
  } catch {
    return undefined
  }
}

const keyOf = (path: string): string => segmentsOf(path).join('/')
