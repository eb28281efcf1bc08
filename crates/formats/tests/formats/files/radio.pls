[playlist]
File1=/data/music/Ivy Marlow/Low Tide/04 - Paper Lanterns.flac
Title1=Ivy Marlow - Paper Lanterns
Length1=221
File2=/data/music/Björn Åle/Nord/02 Café Nord.mp3
Length2=-1
NumberOfEntries=2
Version=2
