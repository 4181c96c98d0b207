/** Managed websites on the wire: sites, deploys, domains and their usage. Spec "Managed Websites". */
import * as z from 'zod'
import { toCredits } from '#config/plans/credits.ts'
import { deployLimits } from '#core/sites/deploys/site-path.ts'
import type { HasHealth } from '#core/health/resource-health.ts'
import type { OwnedSite } from '#core/sites/all-sites.ts'
import type { OpenDeploy } from '#core/sites/deploys/deploys.ts'
import type { ClaimedDomain } from '#core/sites/domains/site-domains.ts'
import type { SiteUsage } from '#core/sites/metering/site-usage.ts'
import { deployStatuses, takedownStatuses, type SiteDeploy } from '#core/sites/site.ts'
import type { ListedSite } from '#core/sites/sites.ts'
import { encoder } from '../fields/codec.ts'
import { healthCode, healthField } from '../insights/health.ts'
import { id, line } from '../fields/text.ts'
import { withBooleanForm, withNumberForm } from '../fields/text-form.ts'
import { orNull, wireTime } from '../fields/time.ts'

const slug = line(63).meta({ description: 'Name of the site in its URL: 3 to 40 lower-case letters, digits and hyphens.' })

export const newSite = z.strictObject({
  slug,
  project_id: id.optional().meta({ description: 'The project of the site. Defaults to the project of the key.' }),
})
export const siteChanges = z.strictObject({
  slug: slug.optional(),
  project_id: id.optional(),
  paused: z.boolean().optional().meta({ description: 'While the site is paused, visitors get a page with the status 503.' }),
})

const takedownShape = z.object({ status: z.literal(takedownStatuses), reason: z.string(), at: wireTime })

const siteShape = z
  .object({
    id: z.string(),
    project_id: z.string(),
    slug: z.string(),
    url: z.string(),
    status: z.enum(['live', 'paused', 'paused_credits', 'taken_down']).meta({
      description: 'paused_credits: the organization has no credits left; taken_down: by the operator of the service.',
    }),
    active_deploy_id: z.string().nullable().meta({ description: 'The deploy served to visitors; null until the first activation.' }),
    takedown: takedownShape.nullable(),
    domains: z.array(z.string()).meta({ description: 'Its verified domains.' }),
    ...healthField,
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'Site' })

export const site = encoder(siteShape).from<ListedSite & HasHealth>({
  ...healthCode,
  domains: ({ domains }) => domains.flatMap(({ name, verifiedAt }) => (verifiedAt === null ? [] : [name])),
})

const findings = <S extends z.ZodType>(one: S) => z.object({ count: z.int(), first: z.array(one) })

const reportShape = z
  .object({
    pages: z.int(),
    broken_links: findings(z.object({ page: z.string(), link: z.string() })),
    missing_alt: findings(z.object({ page: z.string(), image: z.string() })),
    forms: z.array(z.object({ page: z.string(), form: z.string() })).meta({ description: 'Forms of this service, by their public id.' }),
    ignored: z.int().meta({ description: 'Number of archive files that are never served, such as `.git`.' }),
    rules: z
      .array(z.object({ file: z.string(), line: z.int(), problem: z.string() }))
      .meta({ description: 'Lines of `_redirects` and `_headers` without effect.' }),
  })
  .meta({ id: 'SiteDeployReport' })

const deployShape = z
  .object({
    id: z.string(),
    site_id: z.string(),
    status: z.enum(deployStatuses).meta({ description: 'uploading: files are missing. ready: the deploy can be activated.' }),
    files: z.int(),
    bytes: z.int(),
    preview_url: z.string(),
    report: reportShape.nullable(),
    created_by: z.string(),
    created_at: wireTime,
    ready_at: wireTime.nullable(),
  })
  .meta({ id: 'SiteDeploy' })

/** A deploy with its preview URL. */
export interface ShownDeploy extends SiteDeploy {
  readonly previewUrl: string
}

export const deploy = encoder(deployShape).from<ShownDeploy>()

const openDeployShape = z
  .object({
    ...deployShape.shape,
    missing: z.array(z.string()).meta({ description: 'SHA-256 of each missing file, in hexadecimal.' }),
  })
  .meta({ id: 'OpenSiteDeploy' })

export const openDeploy = encoder(openDeployShape).from<ShownDeploy & Pick<OpenDeploy, 'missing'>>()

export const manifestBody = z
  .strictObject({
    files: z
      .array(
        z.strictObject({
          path: z.string().min(1).max(2048).meta({ description: 'Path from the root folder of the site, such as blog/index.html.' }),
          sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal'),
          size: z.int().min(0).max(deployLimits.bytes).meta({ description: 'In bytes.' }),
        }),
      )
      .min(1)
      .max(deployLimits.files),
  })
  .meta({ id: 'SiteManifest' })

export const deployParams = z.strictObject({ id, deploy_id: id })
export const blobParams = z.strictObject({
  id,
  deploy_id: id,
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal'),
})
export const activateQuery = z.strictObject({
  activate: withBooleanForm(
    z.boolean().default(false).meta({ description: 'Activates the deploy as soon as it is complete. Defaults to false.' }),
  ),
})

export const usageInput = z.strictObject({
  days: withNumberForm(
    z.int().min(1).max(366).default(30).meta({ description: 'Number of days up to today (UTC). Defaults to 30.' }),
    /^\d{1,3}$/,
    'must be a whole number',
  ),
})

export const siteUsage = encoder(
  z
    .object({
      site_id: z.string(),
      stored_bytes: z.int().meta({ description: 'Total size of the files of all stored deploys; identical files count once.' }),
      traffic_bytes: z.int().meta({ description: 'Header fields and bodies of responses on the days below.' }),
      answers: z.int(),
      days: z.array(z.object({ day: z.string(), traffic_bytes: z.int(), answers: z.int() })),
      credits_per_day: z.string().meta({ description: 'Average credits per day over the days below; with up to six decimals.' }),
    })
    .meta({ id: 'SiteUsage' }),
).from<SiteUsage>({
  days: ({ days: counted }) => counted.map(({ day, trafficBytes, answers }) => ({ day, traffic_bytes: trafficBytes, answers })),
  credits_per_day: ({ creditsPerDayUcr }) => toCredits(creditsPerDayUcr),
})

export const newDomain = z.strictObject({ domain: line(254).min(1) })
export const domainInput = z.strictObject({ id, domain: line(254).min(1) })

export const siteDomain = encoder(
  z
    .object({
      domain: z.string(),
      status: z.enum(['pending', 'verified']),
      records: z
        .array(z.object({ type: z.enum(['CNAME', 'TXT']), name: z.string(), value: z.string() }))
        .meta({ description: 'Records to publish. A or AAAA records with the same addresses can replace the CNAME record.' }),
      problem: z.string().nullable().meta({ description: 'Problem found by the latest DNS check.' }),
      checked_at: wireTime.nullable(),
      verified_at: wireTime.nullable(),
      created_at: wireTime,
    })
    .meta({ id: 'SiteDomain' }),
).from<ClaimedDomain>({
  domain: ({ name }) => name,
  checked_at: ({ checkedAt }) => orNull(checkedAt ?? undefined),
  verified_at: ({ verifiedAt }) => orNull(verifiedAt ?? undefined),
})

export const takedownInput = z.strictObject({
  id: id.meta({ description: 'Id or name of the site.' }),
  status: z.literal(takedownStatuses).meta({ description: '451: for legal reasons; 410: gone.' }),
  reason: line(500).min(1).meta({ description: 'For the log of the organization and its members; visitors do not see it.' }),
})
export const siteKeyInput = z.strictObject({ id: id.meta({ description: 'Id or name of the site.' }) })
export const takenDownSite = encoder(
  z.object({ id: z.string(), slug: z.string(), takedown: takedownShape.nullable() }).meta({ id: 'SiteTakedown' }),
).from<Pick<ListedSite, 'id' | 'slug' | 'takedown'>>()

/** A site in the operator’s view. */
export const ownedSite = encoder(
  z
    .object({
      id: z.string(),
      slug: z.string(),
      organization_id: z.string(),
      organization_name: z.string(),
      project_id: z.string(),
      is_paused: z.boolean().meta({ description: 'Whether its owner paused the site.' }),
      takedown: takedownShape.nullable(),
      domains: z.array(z.string()).meta({ description: 'Its verified domains.' }),
      created_at: wireTime,
    })
    .meta({ id: 'OperatorSite' }),
).from<OwnedSite>({
  is_paused: ({ pausedAt }) => pausedAt !== null,
  domains: ({ domains }) => domains.flatMap(({ name, verifiedAt }) => (verifiedAt === null ? [] : [name])),
})
export const siteSearch = line(253, 'Part of the name or of a domain, or the id of the site or of its organization.').optional()
