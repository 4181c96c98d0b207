/** Names of sites: each is a label under the domain of sites (RFC 1035 §2.3.1), optionally preceded by a deploy label. */
import { invalid } from '../refusals.ts'

const shape = /^[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])$/
/** Separates deploy and site in the host of a preview. */
const previewMark = '--'
export const previewLabelLength = 20

/** Names that people could mistake for the service itself, and names that programs look up automatically. */
const reserved: ReadonlySet<string> = new Set(
  (
    'abuse account accounts admin administrator api app assets auth autoconfig autodiscover billing blog cdn console dashboard demo dev dns docs email ' +
    'example ftp git help hostmaster imap inspect internal invoice isatap localhost login mail mcp mta-sts mx news noc ns ns1 ns2 oauth operator pay ' +
    'payment pop pop3 postern postmaster preview root secure security smtp sign-in signin ssl staging static status support sysadmin system test tls ' +
    'usenet webmail webmaster wpad www'
  ).split(' '),
)

/** Throws `validation_failed`. */
export function requireSlug(slug: string): void {
  const refuse = (message: string): never => {
    throw invalid([{ path: 'slug', message }])
  }
  if (!shape.test(slug)) refuse('must be 3 to 40 lower-case letters, digits and hyphens, with a letter or digit at both ends')
  if (slug.includes(previewMark)) refuse('must not have two hyphens in a row; they separate deploy and site in preview hosts')
  if (reserved.has(slug)) refuse('is reserved; choose another name')
}

/** Site and deploy of a host under the domain of sites. */
export interface SiteHost {
  readonly slug: string
  /** Last characters of the id of a deploy. */
  readonly deployLabel: string | undefined
}

/** Returns undefined unless the host is one label below the domain. */
export function readSiteHost(host: string, domain: string): SiteHost | undefined {
  if (!host.endsWith(`.${domain}`)) return undefined
  const label = host.slice(0, -domain.length - 1)
  if (label === '' || label.includes('.')) return undefined
  const mark = label.indexOf(previewMark)
  if (mark < 0) return { slug: label, deployLabel: undefined }
  return { slug: label.slice(mark + previewMark.length), deployLabel: label.slice(0, mark) }
}

/** Returns the label of a deploy in the host of a preview. Ids are too long for a label, but their ends are random. */
export const previewLabel = (deployId: string): string => deployId.slice(-previewLabelLength)

export const previewHost = (deployId: string, slug: string, domain: string): string =>
  `${previewLabel(deployId)}${previewMark}${slug}.${domain}`
