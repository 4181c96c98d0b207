/** Deploys of websites: as an archive, or by digests, so that clients upload only new files. */
import * as z from 'zod'
import { invalid } from '#core/refusals.ts'
import { deployLimits } from '#core/sites/deploys/site-path.ts'
import type { OpenDeploy } from '#core/sites/deploys/deploys.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { SiteDeploy } from '#core/sites/site.ts'
import { readZip, ZipBroken } from '#ingest/zip/zip-archive.ts'
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { streamed, type BodyStream } from '../../bodies/body-stream.ts'
import { parseJsonBody } from '../../bodies/json/json-body.ts'
import { spooled } from '../../bodies/spooled-body.ts'
import { check } from '../../bodies/validation.ts'
import { answer, type Answer } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { idParams } from '../../wire/fields/text.ts'
import { activateQuery, blobParams, deploy, deployParams, manifestBody, openDeploy, type ShownDeploy } from '../../wire/sites/site.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['sites']
const feature = 'managed_websites'
const shared = { tags, feature, errors: ['not_found', 'conflict'] } as const
const sites = resource('/v1/sites', { name: 'Site', tags, feature, graphql: true })

/** Includes room for the directory of the archive, and for files that compress badly. */
const maxArchiveBytes = deployLimits.bytes + 4 * 1_048_576
const maxManifestBytes = 4 * 1_048_576
const manifestLimits = { maxDepth: 4, maxValues: 5 * deployLimits.files }
const uploadSeconds = 600
const zipLimits = { entries: 4 * deployLimits.files, bytes: deployLimits.bytes, fileBytes: deployLimits.fileBytes }

const reading: readonly Action<RestCore>[] = [
  sites.listOf('deploys', {
    summary: 'List the deploys of a website, newest first',
    description: `Only the newest ${deployLimits.kept} deploys and the active deploy are stored.`,
    item: deploy,
    async run({ core, principal }, { id, ...page }) {
      const { rows, nextCursor } = await core.sites.deploys.list(principal, id, page)
      const shown = await showing(core, principal, id)
      return { rows: rows.map(shown), nextCursor }
    },
  }),
  action({
    ...{
      ...shared,
      id: 'getSiteDeploy',
      graphql: { field: 'siteDeploy', root: 'query' },
      summary: 'Get a deploy with its missing files',
      scope: 'api:read',
      errors: ['not_found'],
    },
    input: deployParams,
    output: openDeploy,
    http: { method: 'GET', path: '/v1/sites/{id}/deploys/{deploy_id}' },
    run: async ({ core, principal }, { id, deployId }) => shownOpen(core, principal, await core.sites.deploys.get(principal, id, deployId)),
  }),
  action({
    ...{
      ...shared,
      id: 'activateSiteDeploy',
      graphql: { field: 'activateSiteDeploy', root: 'mutation' },
      summary: 'Activate a deploy',
      scope: 'api:admin',
    },
    description: 'Visitors switch from one complete deploy to another at once. Activate an older deploy to roll back.',
    input: deployParams,
    output: deploy,
    http: { method: 'POST', path: '/v1/sites/{id}/deploys/{deploy_id}/activate' },
    run: async ({ core, principal }, { id, deployId }) =>
      (await showing(core, principal, id))(await core.sites.deploys.activate(principal, id, deployId)),
  }),
  action({
    ...{
      ...shared,
      id: 'deleteSiteDeploy',
      graphql: { field: 'deleteSiteDeploy', root: 'mutation' },
      summary: 'Delete a deploy',
      scope: 'api:admin',
    },
    description: 'The active deploy cannot be deleted.',
    input: deployParams,
    http: { method: 'DELETE', path: '/v1/sites/{id}/deploys/{deploy_id}' },
    run: ({ core, principal }, { id, deployId }) => core.sites.deploys.remove(principal, id, deployId),
  }),
]

const sending: readonly Operation<RestCore>[] = [
  operation({
    ...{ ...shared, operationId: 'createSiteDeploy', summary: 'Deploy a website', scope: 'api:admin' },
    ...{ method: 'POST', path: '/v1/sites/{id}/deploys', status: 201 },
    description:
      `A ZIP archive of the folder of the site (\`application/zip\`), which is complete at once; or the digests of its files ` +
      `(\`application/json\`), followed by uploads of the files in \`missing\`. At most ${deployLimits.files} files, 100 MiB in ` +
      'total and 25 MiB each.',
    errors: ['not_found', 'conflict', 'quota_exceeded', 'request_too_large', 'overloaded', 'storage_full'],
    ...{ maxBodyBytes: maxArchiveBytes, deadlineSeconds: uploadSeconds },
    params: idParams,
    query: activateQuery,
    body: streamed({ 'application/zip': z.string(), 'application/json': manifestBody }),
    response: openDeploy.schema,
    async handle({ core, principal, params: { id }, query: { activate: activates }, body }) {
      const made =
        body.mediaType === 'application/zip'
          ? { deploy: await fromArchive(core, principal, id, body, activates), missing: [] }
          : await core.sites.deploys.begin(principal, id, { ...(await manifestOf(body)), activates })
      return answerWith(core, principal, made)
    },
  }),
  operation({
    ...{ ...shared, operationId: 'putSiteFile', summary: 'Upload a file of a deploy', scope: 'api:admin' },
    ...{ method: 'PUT', path: '/v1/sites/{id}/deploys/{deploy_id}/files/{sha256}' },
    description:
      'Identified by its digest. The deploy is complete with the last missing file. Uploading the same file again changes nothing.',
    errors: [...shared.errors, 'storage_full'],
    ...{ maxBodyBytes: deployLimits.fileBytes, deadlineSeconds: uploadSeconds },
    params: blobParams,
    body: streamed({ 'application/octet-stream': z.string() }),
    response: deploy.schema,
    async handle({ core, principal, params, body }) {
      const { deploy: made } = await core.sites.deploys.put(principal, params.id, params.deploy_id, params.sha256, body.bytes)
      return deploy.encode((await showing(core, principal, params.id))(made))
    },
  }),
]

export const deployOperations: readonly (Action<RestCore> | Operation<RestCore>)[] = [...reading, ...sending]

async function fromArchive(
  { sites: { archives, folder, deploys } }: RestCore,
  principal: Principal,
  id: string,
  body: BodyStream,
  activates: boolean,
): Promise<SiteDeploy> {
  using _place = archives.enter(principal)
  await deploys.list(principal, id, { limit: 1 }) // checks that the site exists before a large upload
  await using file = await spooled(body.bytes, folder)
  try {
    return await archives.deploy(principal, id, await readZip(file.fd, zipLimits), activates)
  } catch (error) {
    if (error instanceof ZipBroken) throw invalid([{ path: 'body', message: `the archive ${error.message}` }])
    throw error
  }
}

async function manifestOf(body: BodyStream): Promise<z.output<typeof manifestBody>> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body.bytes) {
    size += piece.length
    if (size > maxManifestBytes) throw invalid([{ path: 'body', message: 'must have at most 4 MiB' }])
    pieces.push(piece)
  }
  return check(manifestBody, parseJsonBody(Buffer.concat(pieces), manifestLimits), 'body')
}

async function showing(
  { sites: { sites: core, addresses } }: RestCore,
  principal: Principal,
  siteId: string,
): Promise<(deploy: SiteDeploy) => ShownDeploy> {
  const { slug } = await core.get(principal, siteId)
  return (made) => ({ ...made, previewUrl: addresses?.previewUrl(made.id, slug) ?? '' })
}

const shownOpen = async (core: RestCore, principal: Principal, { deploy: made, missing }: OpenDeploy) => ({
  ...(await showing(core, principal, made.siteId))(made),
  missing,
})

const answerWith = async (core: RestCore, principal: Principal, made: OpenDeploy): Promise<Answer> =>
  answer(openDeploy.encode(await shownOpen(core, principal, made)), {})
