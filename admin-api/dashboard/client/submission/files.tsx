/** Files that came with a submission, each with what its scan found. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { bytes } from '../parts/time.ts'
import { words } from '../submissions/submissions-words.ts'
import type { FormSubmission } from '../wire/operations.ts'

type File = FormSubmission['files'][number]

interface FilesProps {
  readonly files: readonly File[]
  readonly submission: Pick<FormSubmission, 'id' | 'form_id'>
}

const marks: Readonly<Record<string, string>> = { clean: 'ok', pending: 'pending', infected: 'failed', unscanned: 'warning' }

export function Files({ files }: FilesProps): JSX.Element {
  const w = words()
  const says = (status: string): string => (Object.hasOwn(w.scans, status) ? w.scans[status as keyof typeof w.scans] : status)
  return (
    <ul class="sub-files">
      {files.map(({ id, name, bytes: size, content_type: type, status }) => (
        <li key={id}>
          <Icon name={type.startsWith('image/') ? 'image' : 'clip'} />
          <span class="sub-file-name">
            <SafeText text={name} /> <span class="faint">{bytes(size)}</span>
          </span>
          <span class="status">
            <Mark name={marks[status] ?? 'none'} /> {says(status)}
          </span>
        </li>
      ))}
    </ul>
  )
}
