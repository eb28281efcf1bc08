// A file dropped on any page is imported into the library. Without this handler the browser would open the file.
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { leaveForImport } from '../library/waiting-files';
import { entriesOf, filesOf } from '../library/dropped';

export function useDroppedElsewhere(): void {
  const [location, navigate] = useLocation();
  const inLibrary = location === '/library';
  useEffect(() => {
    if (inLibrary) return;
    const onDragOver = (event: DragEvent) => event.dataTransfer?.types.includes('Files') && event.preventDefault();
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      leaveForImport(filesOf(entriesOf(event.dataTransfer)));
      navigate('/library');
    };
    window.addEventListener('dragover', onDragOver);
    window.addEventListener('drop', onDrop);
    return () => {
      window.removeEventListener('dragover', onDragOver);
      window.removeEventListener('drop', onDrop);
    };
  }, [inLibrary, navigate]);
}
