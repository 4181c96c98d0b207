/** Finds the EICAR test file anywhere in a file, so that services without a scanner can demonstrate an infected file. */

/** In two parts, so that scanners do not detect this source file. */
const signature = Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''), 'latin1')

/** Name of the test virus as reported by scanners. */
export const testVirusName = 'Eicar-Test-Signature'

export class TestVirusSearch {
  #rest = Buffer.alloc(0)
  isFound = false

  write(chunk: Buffer): void {
    if (this.isFound) return
    const seam = Buffer.concat([this.#rest, chunk.subarray(0, signature.length - 1)])
    this.isFound = chunk.includes(signature) || seam.includes(signature)
    const last = chunk.length < signature.length ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = Buffer.from(last.subarray(-(signature.length - 1)))
  }
}
