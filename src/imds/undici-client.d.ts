/** One connection without everything else that undici is: half the memory of importing the package by its name. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';

  export default Client;
}
