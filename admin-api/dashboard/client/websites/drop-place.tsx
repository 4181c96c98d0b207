/** Drop target and file input for a ZIP archive. */
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { toast } from '../parts/toast.tsx'
import { texts } from './websites-texts.ts'

const isZip = ({ name, type }: File): boolean => /\.zip$/i.test(name) || /^application\/(?:x-)?zip/.test(type)

export function DropPlace({ onFile }: { readonly onFile: (file: File) => void }): JSX.Element {
  const w = texts()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = (file: File | undefined): void => {
    if (!file) return
    if (isZip(file)) onFile(file)
    else toast(w.notZip)
  }
  return (
    <div
      class={isOver ? 'drop-place over' : 'drop-place'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files[0])
      }}
    >
      <Icon name="share" />
      <div>
        <b>{w.dropZip}</b>
        <p class="faint">{w.dropHint}</p>
      </div>
      <label class="button" for={id}>
        {w.chooseZip}
      </label>
      <input
        id={id}
        class="file-input"
        type="file"
        accept=".zip,application/zip"
        onChange={({ currentTarget }) => {
          take(currentTarget.files?.[0])
          currentTarget.value = '' // allows choosing the same file again
        }}
      />
    </div>
  )
}
