/** Records of managed websites: sites, their deploys and files. Spec "Managed Websites". */
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'

/** `no_answer`: the name servers did not answer. */
const domainProblems = ['txt', 'address', 'off', 'no_answer'] as const
export type DomainProblem = (typeof domainProblems)[number]

const domainSchema = z.strictObject({
  name: z.string(),
  /** Required value of the TXT record. */
  token: z.string(),
  verifiedAt: z.int().nullable(),
  checkedAt: z.int().nullable(),
  /** Problem that the latest check found. */
  problem: z.string().nullable(),
  /** Code of the problem. Absent without a problem, and until the first check by a release that stores codes. */
  problemCode: z.enum(domainProblems).optional(),
  createdAt: z.int(),
})

export type SiteDomain = Immutable<z.infer<typeof domainSchema>>

export const takedownStatuses = [410, 451] as const
export type TakedownStatus = (typeof takedownStatuses)[number]

const siteSchema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  slug: z.string(),
  /** The deploy that visitors see; null until a deploy is activated. */
  activeDeployId: z.string().nullable(),
  /** Set while the owner has paused the site. */
  pausedAt: z.int().nullable(),
  /** Set by the operator: visitors get this status instead of the site. */
  takedown: z.strictObject({ status: z.literal(takedownStatuses), reason: z.string(), at: z.int() }).nullable(),
  domains: z.array(domainSchema),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type Site = Immutable<z.infer<typeof siteSchema>>

/** Read with every request to a site, so that changes take effect immediately (`Database.generation`). */
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

/** Report of a ready deploy. Lists are truncated; counts are exact. */
const reportSchema = z.strictObject({
  pages: z.int(),
  brokenLinks: z.strictObject({ count: z.int(), first: z.array(z.strictObject({ page: z.string(), link: z.string() })) }),
  missingAlt: z.strictObject({ count: z.int(), first: z.array(z.strictObject({ page: z.string(), image: z.string() })) }),
  forms: z.array(z.strictObject({ page: z.string(), form: z.string() })),
  /** Files of an archive that are never served, such as `.git`. */
  ignored: z.int(),
  /** Lines of `_redirects` and `_headers` without effect, with the reason. */
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
  /** Activates the deploy as soon as it is ready. */
  activates: z.boolean(),
  /** The deploy comes from an archive. It becomes ready within one request or never, and is hidden until then. */
  isArchive: z.literal(true).optional(),
  /** Id of the creating key or user. */
  createdBy: z.string(),
  createdAt: z.int(),
  readyAt: z.int().nullable(),
})

export type SiteDeploy = Immutable<z.infer<typeof deploySchema>>

/** Has no project; it is reached only through its site. */
export const siteDeploys = defineRecord<SiteDeploy>({
  name: 'site_deploy',
  noun: 'deploy',
  schema: deploySchema,
  isTracked: true,
  indexes: { site: ({ siteId }) => [[siteId]] },
})

const refSchema = z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() })

/** Contents of a page that reports need. */
const pageSchema = z.strictObject({
  links: z.array(z.string()),
  imagesWithoutAlt: z.array(z.string()),
  missingAlt: z.int(),
  /** Public ids of forms in the page. */
  forms: z.array(z.string()),
  /** The page contains a form placeholder without the script that fills it. */
  needsFormScript: z.boolean(),
})

export type PageFacts = Immutable<z.infer<typeof pageSchema>>

const blobSchema = z.strictObject({
  /** SHA-256 of its octets in hexadecimal. */
  id: z.string(),
  size: z.int(),
  content: refSchema,
  /** Text appended to the octets when served: the script for forms in a page. */
  suffix: z.string(),
  /** Compressed octets with the suffix, if compression makes them smaller. */
  brotli: refSchema.nullable(),
  gzip: refSchema.nullable(),
  page: pageSchema.nullable(),
})

export type SiteBlob = Immutable<z.infer<typeof blobSchema>>

/** The octets of files, stored once per organization. */
export const siteBlobs = defineRecord<SiteBlob>({ name: 'site_blob', schema: blobSchema })

const usageSchema = z.strictObject({
  /** Id of the site. */
  id: z.string(),
  /** Octets of all files of its deploys, without duplicates. */
  storedBytes: z.int(),
  /** Time of the last change of `storedBytes`. */
  since: z.int(),
  /** Unsettled octets times milliseconds up to `since`, as a decimal number, because it exceeds the range of exact doubles. */
  byteMs: z.string(),
})

export type SiteUsageRecord = Immutable<z.infer<typeof usageSchema>>

export const siteUsages = defineRecord<SiteUsageRecord>({ name: 'site_usage', schema: usageSchema })

/** The files of a deploy. */
export const manifestKey = (organizationId: string, deployId: string): readonly Element[] => [organizationId, 'site.manifest', deployId]
/** Use of a blob by a deploy; empty until the client has sent the octets to the site. */
export const useKey = (organizationId: string, ...rest: readonly Element[]): readonly Element[] => [organizationId, 'site.use', ...rest]
/** Number of blobs that the deploy still waits for. */
export const wantedCounter = (organizationId: string, deployId: string): readonly Element[] => [organizationId, 'site.wanted', deployId]
/** Octets and responses of a site on a day. */
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
/** Unsettled octets sent for a site. */
export const unsettledCounter = (organizationId: string, siteId: string): readonly Element[] => [organizationId, 'site.unsettled', siteId]

/** Removed deploys and sites with the earliest time to remove their data; and uploading deploys, by `begunAt`. */
export const leftoversKey = (...rest: readonly Element[]): readonly Element[] => globalKey('site.leftovers', ...rest)
export const begunKey = (...rest: readonly Element[]): readonly Element[] => globalKey('site.begun', ...rest)

/** Marks a site with usage since its last settlement. */
export const owedKey = (...rest: readonly Element[]): readonly Element[] => globalKey('site.owed', ...rest)

/** See `Database.onWork`. */
export const siteWork = 'site.leftovers'
