/** Files of a submission with their scan results and download buttons. A refused download shows the reason. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call, save, type ApiFault } from '../app/api.ts'
import { asFault } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { bytes } from '../parts/time.ts'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormSubmission } from '../wire/api.d.ts'

type File = FormSubmission['files'][number]

interface FilesProps {
  readonly files: readonly File[]
  readonly submission: Pick<FormSubmission, 'id' | 'form_id'>
  /** Called after a refused download, because the scan may have finished. */
  readonly onRefused: () => void
}

const marks = { clean: 'ok', pending: 'pending', infected: 'failed', unscanned: 'warning' } as const

export const Files = ({ files, ...rest }: FilesProps): JSX.Element => (
  <ul class="sub-files">
    {files.map((file) => (
      <li key={file.id}>
        <FileRow file={file} {...rest} />
      </li>
    ))}
  </ul>
)

function FileRow({ file, submission, onRefused }: Omit<FilesProps, 'files'> & { readonly file: File }): JSX.Element {
  const w = texts()
  const { id, name, bytes: size, content_type: type, status, virus } = file
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  useEffect(() => setFault(undefined), [status])
  const download = async (): Promise<void> => {
    setFault(undefined)
    try {
      await save(
        await call('/v1/forms/{id}/submissions/{submission_id}/files/{file_id}', {
          path: { id: submission.form_id, submission_id: submission.id, file_id: id },
        }),
        name,
      )
    } catch (error) {
      setFault(asFault(error))
      onRefused()
    }
  }
  return (
    <>
      <Icon name={type.startsWith('image/') ? 'image' : 'clip'} />
      <span class="sub-file-name">
        <SafeText text={name} /> <span class="faint">{bytes(size)}</span>
      </span>
      <span class={`status ${status === 'clean' ? 'good' : status === 'infected' ? 'bad' : status === 'unscanned' ? 'warn' : ''}`}>
        <Mark name={marks[status]} /> {w.scans[status]}
        {virus !== null && (
          <code>
            <SafeText text={virus} />
          </code>
        )}
      </span>
      {status !== 'infected' && (
        <button
          class="button small"
          type="button"
          aria-disabled={isBusy}
          aria-label={w.downloadFile({ name: plain(name) })}
          onClick={() => start(download)}
        >
          {w.download}
        </button>
      )}
      {fault && (
        <p class="sub-file-refused" role="alert">
          {whyRefused(fault)}
        </p>
      )}
    </>
  )
}

/** Distinguishes files that will never be scanned from files whose scan is pending. */
function whyRefused({ code, nextAction, message }: ApiFault): string {
  const w = texts()
  if (code === 'file_infected') return w.refusals.infected
  if (code === 'scan_pending') return nextAction === 'ask_operator' ? w.refusals.noScanner : w.refusals.pending
  return message
}
