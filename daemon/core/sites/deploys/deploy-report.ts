/** Report of a deploy: broken links within the site, images without alternative text, forms, and rules without effect. */
import type { DeployReport, PageFacts } from '../site.ts'
import { readHeaderRules } from '../serving/header-rules.ts'
import { readRedirects, redirectsFor, type Redirects } from '../serving/redirects.ts'
import { findFile } from '../serving/find-file.ts'
import type { RuleProblem } from '../serving/rule-problem.ts'

export interface ReportedSite {
  readonly paths: ReadonlySet<string>
  readonly pages: ReadonlyMap<string, PageFacts>
  readonly ignored: number
  /** Contents of `_redirects` and `_headers`; empty if the file is missing. */
  readonly redirects: string
  readonly headers: string
}

const maxShown = 50
/** The loop yields to other work after this number of pages. */
const pagesInStep = 50

export async function deployReport({ paths, pages, ignored, redirects, headers }: ReportedSite): Promise<DeployReport> {
  const rules = readRedirects(redirects)
  const [broken, missing, forms] = [
    new Findings<{ page: string; link: string }>(),
    new Findings<{ page: string; image: string }>(),
    new Findings<{ page: string; form: string }>(),
  ]
  let done = 0
  for (const [page, facts] of pages) {
    for (const link of facts.links) if (isBroken(link, page, paths, rules)) broken.add({ page, link })
    for (const image of facts.imagesWithoutAlt) missing.add({ page, image })
    missing.count += facts.missingAlt - facts.imagesWithoutAlt.length
    for (const form of facts.forms) forms.add({ page, form })
    if (++done % pagesInStep === 0) await new Promise(setImmediate)
  }
  return {
    ...{ pages: pages.size, ignored, forms: forms.first },
    ...{ brokenLinks: { count: broken.count, first: broken.first }, missingAlt: { count: missing.count, first: missing.first } },
    rules: [...rules.problems.map(of('_redirects')), ...readHeaderRules(headers).problems.map(of('_headers'))].slice(0, maxShown),
  }
}

const of =
  (file: string) =>
  ({ line, problem }: RuleProblem) => ({ file, line, problem })

class Findings<T> {
  count = 0
  readonly first: T[] = []

  add(finding: T): void {
    this.count++
    if (this.first.length < maxShown) this.first.push(finding)
  }
}

const base = 'http://site.invalid/'

/** Ignores links to other hosts and protocols, and fragments. */
function isBroken(link: string, page: string, paths: ReadonlySet<string>, rules: Redirects): boolean {
  if (link.startsWith('#') || !URL.canParse(link, base)) return false
  const url = new URL(link, new URL(encodeURI(page), base))
  if (url.origin !== new URL(base).origin) return false
  let path: string
  try {
    path = decodeURIComponent(url.pathname).slice(1)
  } catch {
    return true
  }
  return findFile(path, (file) => paths.has(file)) === undefined && redirectsFor(rules, `/${path}`).next().done === true
}
