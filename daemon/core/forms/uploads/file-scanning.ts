/**
 * Scans files of submissions in the background, in order of arrival. Scan rows are added in the write of the submission and removed with
 * the result. A slow, unavailable or restarted scanner loses no file.
 */
import type { Bytes } from '#store/kv.ts'
import { Change, decode, encode } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import type { Timer } from '../../clock.ts'
import type { Core } from '../../core.ts'
import { count, projectNames } from '../../insights/count.ts'
import { WorkLoop } from '../../work-loop.ts'
import { transact } from '../../writes/transact.ts'
import { forms } from '../form.ts'
import { formSubmissions, replaceSubmission } from '../submissions/submission.ts'
import { removeFiles, scanKey, scanWork, type SubmissionFile } from './submission-file.ts'
import { ScanFailed, type ScanResult, type VirusScanner } from './virus-scanner.ts'

export interface FileScanningOptions extends Core {
  /** Without a scanner, scan rows remain until a scanner is configured. */
  readonly scanner: VirusScanner | undefined
  readonly onError: (error: unknown, id?: string) => void
}

interface Waiting {
  readonly key: Bytes
  readonly submissionId: string
  readonly fileId: string
  readonly organizationId: string
  /** Earliest time of the next try; 0 before the first try. */
  readonly notBeforeMs: number
}

/** Number of concurrent scans. */
const atOnce = 4
const page = 100
/** Pauses while the scanner is unavailable; the last pause repeats. */
const pausesMs = [1000, 5000, 15_000, 60_000] as const
/** Delay before another try of a file that the scanner could not scan. */
const laterMs = 600_000
const warnMs = 600_000
const maxCounted = 10_000

export class FileScanning {
  readonly #options: FileScanningOptions
  readonly #loop: WorkLoop
  #alarm: Timer | undefined
  /** Consecutive rounds with an unavailable scanner. */
  #failures = 0
  #unreachableSince: number | undefined
  readonly #stopped = new AbortController()
  /** True until the next alarm, if the scanner is unavailable. New rows then start no round. */
  #isDown = false

  constructor(options: FileScanningOptions) {
    this.#options = options
    this.#loop = new WorkLoop({ ...options, round: () => this.#round() })
    if (options.scanner) options.database.onWork(scanWork, () => this.#isDown || this.#loop.wake())
  }

  /** Starts with the stored rows of an earlier process. */
  start(): void {
    if (this.#options.scanner) this.#loop.wake()
  }

  /** Whether files have waited for an unavailable scanner for ten minutes. */
  get isUnreachable(): boolean {
    return this.#unreachableSince !== undefined && this.#options.clock.now() - this.#unreachableSince >= warnMs
  }

  /** Number of files that wait for a scan, at most `maxCounted`. */
  async waiting(): Promise<number> {
    let count = 0
    for await (const _row of this.#options.database.kv.range({ ...within(scanKey()), limit: maxCounted })) count++
    return count
  }

  /** Resolves when no scan is in progress. */
  idle(): Promise<void> {
    return this.#loop.idle()
  }

  /** Aborts scans in progress; they are repeated after the next start. */
  async stop(): Promise<void> {
    this.#alarm?.cancel()
    this.#stopped.abort()
    await this.#loop.stop()
    this.#alarm?.cancel()
  }

  /** Scans all due rows, then schedules the next round if rows remain. */
  async #round(): Promise<void> {
    const { scanner, clock } = this.#options
    if (!scanner) return
    let isLeft = false
    this.#isDown = false
    for (let start = pack(scanKey()); !this.#loop.stopping && !this.#isDown;) {
      const rows = await this.#waiting(start)
      const due = rows.filter(({ notBeforeMs }) => notBeforeMs <= clock.now())
      isLeft ||= due.length < rows.length
      for (let at = 0; at < due.length && !this.#isDown && !this.#loop.stopping; at += atOnce) {
        const results = await Promise.all(due.slice(at, at + atOnce).map((each) => this.#scan(scanner, each)))
        this.#isDown = results.includes('down')
        isLeft ||= results.includes('failed')
      }
      const last = rows.at(-1)
      if (!last || rows.length < page) break
      start = Buffer.concat([last.key, Buffer.of(0)])
    }
    this.#failures = this.#isDown ? this.#failures + 1 : 0
    this.#unreachableSince = this.#isDown ? (this.#unreachableSince ?? clock.now()) : undefined
    if (this.#isDown) this.#wakeAfter(pausesMs[Math.min(this.#failures, pausesMs.length) - 1] ?? laterMs)
    else if (isLeft) this.#wakeAfter(laterMs)
  }

  #wakeAfter(ms: number): void {
    this.#alarm?.cancel()
    if (!this.#loop.stopping) this.#alarm = this.#options.clock.after(ms, () => this.#loop.wake())
  }

  async #waiting(start: Bytes): Promise<readonly Waiting[]> {
    const found: Waiting[] = []
    for await (const { key, value } of this.#options.database.kv.range({ start, end: within(scanKey()).end, limit: page })) {
      const [, , submissionId = '', fileId = '', organizationId = ''] = unpack(key).map(String)
      found.push({ key, submissionId, fileId, organizationId, notBeforeMs: value.length === 0 ? 0 : decode<number>(value) })
    }
    return found
  }

  async #scan(scanner: VirusScanner, waiting: Waiting): Promise<'done' | 'failed' | 'down'> {
    const { database, onError } = this.#options
    const { organizationId, fileId } = waiting
    const file = await this.#fileOf(waiting)
    if (!file?.content) {
      await this.#forget(waiting)
      return 'done'
    }
    try {
      await this.#note(waiting, await scanner.scan(readContent(database, organizationId, file.content), this.#stopped.signal))
      return 'done'
    } catch (error) {
      if (this.#stopped.signal.aborted) return 'down'
      if (!(await this.#fileOf(waiting))) return 'done' // deleted in the meantime
      if (this.#failures === 0) onError(error, fileId)
      if (error instanceof ScanFailed && error.isDown) return 'down'
      await this.#putOff(waiting)
      return 'failed'
    }
  }

  async #fileOf({ organizationId, submissionId, fileId }: Waiting): Promise<SubmissionFile | undefined> {
    const stored = await this.#options.database.get(formSubmissions, { organizationId }, submissionId)
    return stored?.record.files.find(({ id }) => id === fileId)
  }

  async #forget({ organizationId, submissionId, fileId }: Waiting): Promise<void> {
    await this.#options.database.commit(new Change().delete(scanKey(submissionId, fileId, organizationId)))
  }

  /** Postpones the scan, unless the submission was deleted with its scan row. */
  async #putOff({ organizationId, submissionId, fileId }: Waiting): Promise<void> {
    const { database, clock } = this.#options
    await transact(database, { organizationId }, async (change) => {
      if (await change.get(formSubmissions, submissionId))
        change.set(scanKey(submissionId, fileId, organizationId), encode(clock.now() + laterMs))
    })
  }

  /** Stores the result in one write, which also removes the octets of an infected file. */
  async #note({ organizationId, submissionId, fileId }: Waiting, { virus }: ScanResult): Promise<void> {
    const { database, clock } = this.#options
    await transact(database, { organizationId }, async (change) => {
      const stored = await change.get(formSubmissions, submissionId)
      const file = stored?.record.files.find(({ id }) => id === fileId)
      if (!stored || !file) return
      const { record } = stored
      const { projectId } = (await change.must(forms, record.formId)).record
      const scanned: SubmissionFile = virus === null ? { ...file, status: 'clean' } : { ...file, status: 'infected', virus, content: null }
      if (virus === null) change.delete(scanKey(submissionId, fileId, organizationId))
      else removeFiles(change, organizationId, { id: submissionId, files: [file] })
      const files = record.files.map((other) => (other.id === fileId ? scanned : other))
      replaceSubmission(change, organizationId, stored, { ...record, files, updatedAt: clock.now() })
      count(change, { organizationId, projectId }, [projectNames.formSubmissionChanged], clock.now())
    })
  }
}
