/** Managed websites: sites, their deploys, and what deploys consist of. Spec "Managed Websites". */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'

const domainSchema = z.strictObject({
  name: z.string(),
  /** What its TXT record must say. */
  token: z.string(),
  verifiedAt: z.int().nullable(),
  checkedAt: z.int().nullable(),
  /** What the latest look found wrong. */
  problem: z.string().nullable(),
  createdAt: z.int(),
})

export type SiteDomain = Immutable<z.infer<typeof domainSchema>>

export const takedownStatuses = [410, 451] as const
export type TakedownStatus = (typeof takedownStatuses)[number]

const siteSchema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  slug: z.string(),
  /** The deploy that visitors get; null before the first. */
  activeDeployId: z.string().nullable(),
  /** Set while its owner has it paused. */
  pausedAt: z.int().nullable(),
  /** What the operator answers in its place. */
  takedown: z.strictObject({ status: z.literal(takedownStatuses), reason: z.string(), at: z.int() }).nullable(),
  domains: z.array(domainSchema),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type Site = Immutable<z.infer<typeof siteSchema>>

/** Read with every request to a site, so that its changes are seen at once (`Database.generation`). */
export const sites = defineRecord<Site>({
  name: 'site',
  schema: siteSchema,
  isSetting: true,
  isTracked: true,
  indexes: { project: ({ projectId }) => [[projectId]] },
  lookups: {
    slug: ({ slug }) => [[slug]],
    id: ({ id }) => [[id]],
    domain: ({ domains }) => domains.flatMap(({ name, verifiedAt }) => (verifiedAt === null ? [] : [[name]])),
  },
  projectOf: ({ projectId }) => projectId,
})

/** What is said of a deploy once it is whole. Lists are cut; counts are not. */
const reportSchema = z.strictObject({
  pages: z.int(),
  brokenLinks: z.strictObject({ count: z.int(), first: z.array(z.strictObject({ page: z.string(), link: z.string() })) }),
  missingAlt: z.strictObject({ count: z.int(), first: z.array(z.strictObject({ page: z.string(), image: z.string() })) }),
  forms: z.array(z.strictObject({ page: z.string(), form: z.string() })),
  /** Files of an archive that are never served, such as `.git`. */
  ignored: z.int(),
  /** Lines of `_redirects` and `_headers` that do nothing, and why. */
  rules: z.array(z.strictObject({ file: z.string(), line: z.int(), problem: z.string() })),
})

export type DeployReport = Immutable<z.infer<typeof reportSchema>>

export const deployStatuses = ['uploading', 'ready'] as const
export type DeployStatus = (typeof deployStatuses)[number]

const deploySchema = z.strictObject({
  id: z.string(),
  siteId: z.string(),
  status: z.enum(deployStatuses),
  files: z.int(),
  bytes: z.int(),
  ignored: z.int(),
  report: reportSchema.nullable(),
  /** Becomes what visitors get as soon as it is whole. */
  activates: z.boolean(),
  /** Comes from an archive: it is whole by the end of one request, or never, and is not shown before. */
  isArchive: z.literal(true).optional(),
  /** Id of the key or person that made it. */
  createdBy: z.string(),
  createdAt: z.int(),
  readyAt: z.int().nullable(),
})

export type SiteDeploy = Immutable<z.infer<typeof deploySchema>>

/** Belongs to no project by itself: it is reached through its site only. */
export const siteDeploys = defineRecord<SiteDeploy>({
  name: 'site_deploy',
  noun: 'deploy',
  schema: deploySchema,
  isTracked: true,
  indexes: { site: ({ siteId }) => [[siteId]] },
})

const refSchema = z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() })

/** What stands in a page, as far as reports need it. */
const pageSchema = z.strictObject({
  links: z.array(z.string()),
  imagesWithoutAlt: z.array(z.string()),
  missingAlt: z.int(),
  /** Public ids of forms that stand in it. */
  forms: z.array(z.string()),
  /** Has the place of a form, and not the script that puts it there. */
  needsFormScript: z.boolean(),
})

export type PageFacts = Immutable<z.infer<typeof pageSchema>>

const blobSchema = z.strictObject({
  /** SHA-256 of its octets in hexadecimal. */
  id: z.string(),
  size: z.int(),
  content: refSchema,
  /** What stands behind the octets when they are served: the script of the forms in a page. */
  suffix: z.string(),
  /** The octets with the suffix, compressed, where that makes them smaller. */
  brotli: refSchema.nullable(),
  gzip: refSchema.nullable(),
  page: pageSchema.nullable(),
})

export type SiteBlob = Immutable<z.infer<typeof blobSchema>>

/** The octets of files, once for an organization. */
export const siteBlobs = defineRecord<SiteBlob>({ name: 'site_blob', schema: blobSchema })

const usageSchema = z.strictObject({
  /** That of the site. */
  id: z.string(),
  /** Octets of all files of its deploys, each once. */
  storedBytes: z.int(),
  /** Since when they are so many. */
  since: z.int(),
  /** Octets times milliseconds until then that are not settled, as a decimal number: too large for a double. */
  byteMs: z.string(),
})

export type SiteUsageRecord = Immutable<z.infer<typeof usageSchema>>

export const siteUsages = defineRecord<SiteUsageRecord>({ name: 'site_usage', schema: usageSchema })

/** The files of a deploy, as JSON. */
export const manifestKey = (organizationId: string, deployId: string): readonly Element[] => [organizationId, 'site.manifest', deployId]
/** That a deploy has a blob; empty until the site has shown that it has the octets. */
export const useKey = (organizationId: string, ...rest: readonly Element[]): readonly Element[] => [organizationId, 'site.use', ...rest]
/** How many blobs of a deploy are still to come. */
export const wantedCounter = (organizationId: string, deployId: string): readonly Element[] => [organizationId, 'site.wanted', deployId]
/** Octets sent for a site on a day, and the answers that they were in. */
export const trafficCounter = (organizationId: string, siteId: string, day: string): readonly Element[] => [
  organizationId,
  'site.traffic',
  siteId,
  day,
]
export const answersCounter = (organizationId: string, siteId: string, day: string): readonly Element[] => [
  organizationId,
  'site.answers',
  siteId,
  day,
]
/** Octets sent for a site that are not settled. */
export const unsettledCounter = (organizationId: string, siteId: string): readonly Element[] => [organizationId, 'site.unsettled', siteId]

/** Deploys that are no longer to be kept, with the time from which their files may go; and deploys that were begun, by `begunAt`. */
export const leftoversKey = (...rest: readonly Element[]): readonly Element[] => globalKey('site.leftovers', ...rest)
export const begunKey = (...rest: readonly Element[]): readonly Element[] => globalKey('site.begun', ...rest)

/** That a site has used something since it was settled. */
export const owedKey = (...rest: readonly Element[]): readonly Element[] => globalKey('site.owed', ...rest)

/** See `Database.onWork`. */
export const siteWork = 'site.leftovers'
