/**
 * Uploaded files of forms when the daemon is killed during uploads: acknowledged submissions have their files, and other data are removed.
 */
import { request } from 'node:http'
import test from '#test'
import { largePng } from '../core/forms/file-samples.ts'
import { multipartBody, multipartType } from '../admin-api/rest/forms/multipart-body.ts'
import { Daemon, runCommand } from '../support/daemon/daemon.ts'
import { waitFor } from '../support/waits.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { assertVerified } from '../support/problems.ts'

const lives = 3
const atOnce = 4
const bytes = 1_500_000

test('uploads: acknowledged submissions keep files after a kill; others leave none', async (t) => {
  await using folder = await temporaryFolder('uploads')
  const options = { folder: folder.path, env: { POSTERN_UNSCANNED_DOWNLOADS: 'allow' } }
  let daemon = await Daemon.start(options)
  t.teardown(() => daemon.kill())
  const definition = {
    name: 'CV',
    schema: { version: 1, fields: [{ key: 'cv', type: 'file_upload', label: 'CV' }] },
    settings: { min_fill_seconds: 0 },
  }
  const { id, public_id } = await daemon.rest.must('POST', '/v1/forms', { name: 'CV', definition })
  await daemon.rest.must('POST', `/v1/forms/${String(id)}/publish`)
  const open = `/v1/public/forms/${String(public_id)}`
  const acknowledged = new Set<string>()
  const file = largePng(bytes)
  /** Resolves when the submission is acknowledged or cut off. Holds back a part of the body. */
  const send = (heldBack: number, token: unknown): Promise<void> => {
    const body = multipartBody([
      ['_mnx_ft', String(token)],
      ['cv', file, 'cv.png'],
    ])
    return new Promise<void>((resolve) => {
      const sent = request(`http://${daemon.addresses.http}${open}/submissions`, {
        method: 'POST',
        headers: { 'content-type': multipartType(), 'content-length': body.length },
      })
      sent
        .on('error', () => resolve())
        .on('response', (answer) => {
          let text = ''
          answer.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => resolve())
          answer.on('end', () => {
            if (answer.statusCode === 201) acknowledged.add((JSON.parse(text) as { id: string }).id)
            resolve()
          })
        })
      sent.write(body.subarray(0, body.length - heldBack))
      if (heldBack === 0) sent.end()
    })
  }
  for (let life = 0; life < lives; life++) {
    const before = acknowledged.size
    const heldBack = [...Array.from({ length: atOnce }, (_, at) => 1 + at * 300_000), 0, 0, 0]
    const visits = await Promise.all(heldBack.map(() => daemon.rest.must('GET', open)))
    const sends = heldBack.map((octets, at) => send(octets, visits[at]?.['fill_time_token']))
    await waitFor('an upload is acknowledged', async () => acknowledged.size > before)
    await daemon.kill()
    await Promise.all(sends)
    daemon = await Daemon.start(options, daemon.adminKey)
  }
  for (const submission of acknowledged) {
    const where = `/v1/forms/${String(id)}/submissions/${submission}`
    const [kept] = (await daemon.rest.must('GET', where))['files'] as { id: string }[]
    const { headers } = await daemon.rest.call('GET', `${where}/files/${String(kept?.id)}`)
    t.true((await daemon.rest.call('GET', String(headers.location))).bytes.equals(file), `ledger: the file of ${submission} is lost`)
  }
  await daemon.stop()
  assertVerified(t, await runCommand(options, 'verify'))
})
